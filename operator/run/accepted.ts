/** Whether a run was submitted already. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { readBrief } from '../../runs/read.ts';
import { isUnavailable } from '../../store/connection.ts';
import { projectOf } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { unreachable } from '../shared/errors.ts';

/** Whether the run store has the run of this object. */
export async function isAccepted(
  { conn, caches }: Pick<OperatorContext, 'conn' | 'caches'>,
  { metadata }: WorkflowRun,
): Promise<boolean> {
  const project = projectOf(caches, metadata.namespace);
  if (project === undefined) return false;
  const state = await readBrief(conn, project, metadata.name);
  if (isUnavailable(state)) throw unreachable(state);
  return state !== undefined && state.recordUid === metadata.uid;
}
