/**
 * Claims of runs, and what calls under a claim answer. Outcomes are values: an outage and an empty store are
 * outcomes too (`unavailable`), never exceptions.
 */
import type { Unavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { ParentRef, RunState } from './run.ts';

/** A run that a runner holds, with the token that every further call must show. */
export type Claim = {
  token: string;
  state: RunState;
  /** What is left of the run's timeout, by the store's clock; 0 when it has passed. */
  remainingMs: number;
  /** The store's clock at the claim, in milliseconds since 1970. */
  claimedAt: number;
  /** Two runners died with it: stop claiming, let other runs end, then execute it alone. */
  alone: boolean;
};

/** Identifies a claimed run in every call of its runner. */
export type ClaimRef = {
  project: ProjectUid;
  run: string;
  token: string;
  /** Of a child run. */
  parent?: ParentRef;
  /** The run has no parent, and can have no items, calls, signals, children or memories. */
  isPlain?: boolean;
};

/**
 * `more`: further runs are ready. `short`: runs are ready, and the store has no room for what they would
 * write.
 */
export type Claimed = { outcome: 'claimed'; claims: Claim[]; more: boolean; short: boolean } | Unavailable;

/**
 * `done`: stored; and whether the run is to be cancelled. `fenced`: the claim is another one now, and the
 * runner must drop the run.
 */
export type Fenced =
  /** `signaled`: the run has signals that its runner has not read. */
  { outcome: 'done'; cancelRequested: boolean; signaled?: true } | { outcome: 'fenced' } | Unavailable;

/** The run store was restored: it has an older state of the run than its runner has stored. */
export type Rewound = { outcome: 'rewound' };
