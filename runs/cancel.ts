import type { TerminalPhase } from '../api/run.ts';
import type { RunStoreConnection } from './connection.ts';
import type { ProjectUid, Unavailable } from './types.ts';

export type Cancelled =
  | { outcome: 'cancelled' }
  | { outcome: 'requested' }
  | { outcome: 'ended'; phase: TerminalPhase }
  | { outcome: 'absent' }
  | Unavailable;

/** Cancels a run: one that nobody holds ends at once (`cancelled`), one that a runner holds is asked to end (`requested`). */
export declare function cancelRun(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<Cancelled>;

/** Calls `onCancel` with each run that shall be cancelled, by push and, each second, by a look; may repeat a name. */
export declare function watchCancels(
  conn: RunStoreConnection,
  project: ProjectUid,
  onCancel: (run: string) => void,
): { stop(): void };
