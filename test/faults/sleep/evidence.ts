/** What is known of projects whose runners sleep. Nothing here is an opinion. */
import type { Evidence, FaultRecord } from '../evidence.ts';
import type { ScheduledRun } from '../scheduleChecker.ts';

/**
 * When a program is killed: as a pool has just got no replicas, as it has just got some again, as an event
 * was accepted for a sleeping project, before a wait, a schedule, a callback or a poll is due.
 */
export const MOMENTS = ['asleep', 'woken', 'accepted', 'due'] as const;
export type Moment = (typeof MOMENTS)[number];

/** What is killed: the operator that leads, a gateway, the run store. */
export const VICTIMS = ['operator', 'gateway', 'redis'] as const;

/** The replicas that a pool has from then on. */
export type PoolChange = { project: string; at: number; replicas: number };

/** The call of a callback for the first time, and whether it was answered with 2xx in the end. */
export type Callback = { event: string; at: number; isAnswered: boolean };

/** A mail in the mailbox, and when a poll pod was created for it. */
export type Mail = { event: string; at: number };

export type SleepingProject = {
  project: string;
  /** Of its events and all of its runs. */
  evidence: Evidence;
  /** The times at which its schedule had to start a run, and the runs of the schedule. */
  times: readonly number[];
  scheduled: readonly ScheduledRun[];
  callbacks: readonly Callback[];
  /** By event: the bodies of callbacks that the step after them passed on. */
  said: Readonly<Record<string, readonly string[]>>;
  mails: readonly Mail[];
};

export type SleepEvidence = {
  projects: readonly SleepingProject[];
  changes: readonly PoolChange[];
  faults: readonly FaultRecord[];
};

/** How many replicas the pool had then; undefined if that is not known. The changes are in order. */
export function replicasAt(changes: readonly PoolChange[], project: string, at: number): number | undefined {
  return changes.findLast((change) => change.project === project && change.at <= at)?.replicas;
}
