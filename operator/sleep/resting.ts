/** Sleeping projects in which nothing happens, which are read together. */
import { projectsWithWork } from '../../runs/survey.ts';
import { isUnavailable } from '../../store/connection.ts';
import { pollIntervals } from '../poll/ensure.ts';
import { arePolledOften } from '../poll/period.ts';
import type { OperatorContext } from '../shared/context.ts';
import { AT_REST_MS, CHECK_MS, type SleepState } from './decide.ts';

/** What is known of a project whose runners may sleep. */
export type Watched = {
  uid: string;
  state: SleepState;
  /** When to read it next, by the clock; 0: at once. */
  checkAt: number;
  /** The subscription to its work, while it sleeps. */
  messages: { end(): void } | undefined;
  /** When messages arrive from, by the clock. */
  listensAt: number | undefined;
};

/** A timer may fire a moment too early. */
const EARLY_MS = 100;

/** Whether the messages of a sleeping project arrive: subscribing takes a moment. */
export function isListening({ listensAt }: Watched, now: number): boolean {
  return listensAt !== undefined && now >= listensAt;
}

/** Whether the project with this uid is to be read now: its time has come, or it is not watched yet. */
export function isDue(project: Watched | undefined, uid: string, now: number): boolean {
  return project?.uid !== uid || project.checkAt <= now;
}

/** Has the project read in `ms` at the latest. */
export function checkWithin(project: Watched, now: number, ms: number): void {
  project.checkAt = Math.min(project.checkAt, now + ms);
}

/**
 * Has a sleeping project read in the next round: all are read together, in one call for many, so that the
 * operator wakes once for them.
 */
export function checkInRound(project: Watched, now: number): void {
  const round = Math.floor((now + EARLY_MS) / CHECK_MS) + 1;
  checkWithin(project, now, round * CHECK_MS - now);
}

/**
 * Reads the sleeping projects among these that are to be read now, in one call for many. Of one that may have
 * work it changes nothing but that it is to be read by itself, at once.
 */
export async function readResting(
  { caches, clock, conn }: Pick<OperatorContext, 'caches' | 'clock' | 'conn'>,
  watched: ReadonlyMap<string, Watched>,
): Promise<void> {
  const soon = clock.now() + EARLY_MS;
  // 0: a message has come, and the project is read by itself.
  const resting = [...watched].filter(
    ([, project]) =>
      project.state.isAsleep &&
      project.checkAt > 0 &&
      project.checkAt <= soon &&
      isListening(project, clock.now()),
  );
  // A message during the reading counts.
  for (const [, project] of resting) project.checkAt = Infinity;
  const uids = resting.map(([, { uid }]) => uid);
  const withWork = new Set<string>();
  try {
    const found = await projectsWithWork(conn, uids, AT_REST_MS);
    for (const uid of isUnavailable(found) ? [] : found) withWork.add(uid);
  } finally {
    for (const [, project] of resting) checkInRound(project, clock.now());
  }
  for (const [namespace, project] of resting)
    if (withWork.has(project.uid) || arePolledOften(pollIntervals(caches, namespace)))
      checkWithin(project, clock.now(), 0);
}
