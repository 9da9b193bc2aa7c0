/** What a run of the fault tests has found out, from which the checker judges: nothing here is an opinion. */
import type { Effect } from './effects.ts';
import type { FaultKind } from './plan.ts';

/** One request and its answer; `status` is missing where none came. Times are of the wall clock, in milliseconds. */
export type Attempt = {
  at: number;
  ms: number;
  connection: 'new' | 'kept';
  status?: number;
  error?: string;
  /** The name of the run that the answer tells. */
  run?: string;
  /** The event that the answer is about, where a response node tells. */
  event?: string;
  /** What a refusal says of itself. */
  problem?: string;
  retryAfter?: number;
};

/** An event that was sent, again and again until it was accepted. `refusal` is the status that it deserves, where it deserves one. */
export type SentEvent = { id: string; workflow: string; refusal?: number; attempts: Attempt[] };

/** How a run ended, as a record or a summary tells it. */
export type EndedRun = {
  run: string;
  workflow: string;
  phase: string;
  /** What started it. */
  trigger?: string;
  reason?: string;
  message?: string;
  acceptedAt: number;
  endedAt: number;
};

/** The object of a run, as the watcher saw it over time. `event` stands in its input, `key` is what its event was known by. */
export type RunHistory = {
  run: string;
  uid: string;
  workflow: string;
  event: string;
  key?: string;
  phases: string[];
};

/** What the run store counts of a workflow. */
export type Totals = {
  workflow: string;
  succeeded: number;
  failed: number;
  cancelled: number;
  active: number;
};

/** A fault as it happened. Seconds count from its beginning; left out: it did not come to that. */
export type FaultRecord = {
  number: number;
  kind: FaultKind;
  target: string;
  at: number;
  endedAt: number;
  /** Accepted events a second, in the seconds before. */
  loadBefore: number;
  firstAcceptedSeconds?: number;
  backlogEndedSeconds?: number;
};

/** Something that was measured, in words, and what it may be at most, where something was promised. */
export type Measure = { what: string; seen: string; promised?: string };

export type Evidence = {
  events: readonly SentEvent[];
  effects: readonly Effect[];
  ended: readonly EndedRun[];
  histories: readonly RunHistory[];
  totals: readonly Totals[];
  faults: readonly FaultRecord[];
  /** Effects that each workflow has, once per event. */
  effectsOf: Readonly<Record<string, readonly Effect['kind'][]>>;
};
