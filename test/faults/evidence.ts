/** What a run of the fault tests has found out, from which the checker judges: nothing here is an opinion. */
import type { Effect } from './effects.ts';

/**
 * One request and its answer; `status` is missing where none came. Times are of the wall clock, in
 * milliseconds.
 */
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

/**
 * An event that was sent, again and again until it was accepted. `refusal` is the status that it deserves,
 * where it deserves one.
 */
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

/**
 * The object of a run, as the watcher saw it over time. `event` stands in its input, `key` is what its event
 * was known by.
 */
export type RunHistory = {
  run: string;
  uid: string;
  workflow: string;
  event: string;
  key?: string;
  phases: string[];
  /** Each change of each node that was seen, in order. Left out: nothing was seen of nodes. */
  nodes?: readonly NodeSighting[];
};

/** A node as a record showed it. */
export type NodeSighting = { node: string; phase: string; attempts?: number; endedAt?: string };

/**
 * What the run store counts of a workflow. `accepted` is a count of its own, of which `active` are those that
 * have not ended.
 */
export type Totals = {
  workflow: string;
  accepted: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  active: number;
};

/** A fault as it happened. Seconds count from its beginning; left out: it did not come to that. */
export type FaultRecord = {
  /** Of a storm: which scene it belongs to, and `scene` its name. */
  number: number;
  scene?: string;
  kind: string;
  target: string;
  at: number;
  endedAt: number;
  /** Accepted events a second, in the seconds before. */
  loadBefore: number;
  /**
   * Where runners sleep: what had just happened to a project, or was about to, and when that was noticed or
   * due.
   */
  moment?: { name: string; project: string; at: number };
  firstAcceptedSeconds?: number;
  backlogEndedSeconds?: number;
};

/**
 * The run store lost its data: what was in it in the moment before. `runs`: those that it still had, which
 * are runs that had not ended or whose end was not recorded. Only of these, and of events without an answer
 * then, may anything be lost or repeated.
 */
export type Loss = { at: number; runs: readonly string[] };

/** From and until when, by the wall clock, the run store's own clock was wrong by so many milliseconds. */
export type ClockSlip = { from: number; until: number; ms: number };

/** Something that was measured, in words, and what it may be at most, where something was promised. */
export type Measure = { what: string; seen: string; promised?: string };

export type Evidence = {
  events: readonly SentEvent[];
  effects: readonly Effect[];
  ended: readonly EndedRun[];
  /** How many of a workflow's ended runs the run store lists at the end. Left out: all of `ended`. */
  listed?: Readonly<Record<string, number>>;
  /** By event: the run that the run store has under the event's key. */
  keyed: Readonly<Record<string, string>>;
  histories: readonly RunHistory[];
  totals: readonly Totals[];
  faults: readonly FaultRecord[];
  /** Effects that each workflow has, once per event. */
  effectsOf: Readonly<Record<string, readonly Effect['kind'][]>>;
  /**
   * Pairs of nodes of which the second begins when the first has ended. Ids are those of one workflow alone.
   */
  orders?: readonly (readonly [string, string])[];
  losses?: readonly Loss[];
  slips?: readonly ClockSlip[];
  /** From and until when another member was promoted, and the former primary was back. */
  failovers?: readonly { from: number; until: number }[];
  /** Runs that failovers took and of which no sender was told (`unacknowledged.ts`). */
  unacknowledged?: readonly string[];
};
