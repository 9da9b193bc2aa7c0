import type { RunStoreConnection } from './connection.ts';
import type { ProjectUid } from './types.ts';

/** Resolves when there may be work: woken by a submission, or after a second, or when the signal is aborted. */
export declare function waitForWork(
  conn: RunStoreConnection,
  project: ProjectUid,
  signal: AbortSignal,
): Promise<void>;
