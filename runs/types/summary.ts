/** Summaries of ended runs without a record, and counts of runs. */
import type { TerminalPhase } from '../../api/phase.ts';

/** The summary of an ended run that has no record. */
export type RunSummary = {
  run: string;
  workflow: string;
  phase: TerminalPhase;
  trigger: string;
  test: boolean;
  requestedBy?: string;
  acceptedAt: number;
  startedAt?: number;
  endedAt: number;
  reason?: string;
  message?: string;
};

export type Counts = {
  succeeded: number;
  failed: number;
  cancelled: number;
  /** Not ended: running and waiting. */
  active: number;
  /** Claimed by a runner. */
  running: number;
  /** Unfinished and not claimed. */
  waiting: number;
  lastAcceptedAt?: number;
};
