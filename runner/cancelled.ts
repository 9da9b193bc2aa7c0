/** Why a run was cancelled: a runner is only told to end it. */
import { END_OF_DELETED, isDeleted } from '../runs/deletion.ts';
import type { RunEnd } from '../runs/types/result.ts';
import type { RunState } from '../runs/types/run.ts';
import type { RunStoreConnection } from '../store/connection.ts';

/** The end as the record and the parent of the run show it, which names a deleted workflow. */
export async function explainCancel(
  conn: RunStoreConnection,
  { project, workflowUid }: RunState,
  end: RunEnd,
): Promise<RunEnd> {
  if (end.phase !== 'Cancelled') return end;
  // Without an answer the end cannot be stored either.
  return (await isDeleted(conn, project, workflowUid)) === true ? END_OF_DELETED : end;
}
