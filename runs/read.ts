import type { RunStoreConnection } from './connection.ts';
import type { Counts, ProjectUid, RunState, RunSummary, Unavailable } from './types.ts';

/** The run, while the store holds it: until it has ended and is recorded, and 10 s more. */
export declare function readRun(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<RunState | undefined | Unavailable>;

/** Ended runs of a workflow that are recorded or exist as a line only, newest first. */
export declare function readSummaries(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  limit: number,
): Promise<RunSummary[] | Unavailable>;

/** Exact totals of a workflow. */
export declare function readCounts(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<Counts | Unavailable>;
