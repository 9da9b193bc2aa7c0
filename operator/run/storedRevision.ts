/** The revision of a run, in the run store. */
import type { WebhookRoute, WorkflowRun } from '../../api/kinds.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import { putRevision } from '../../runs/revisions.ts';
import type { OperatorContext } from '../shared/context.ts';
import { unreachable } from '../shared/errors.ts';
import { chooseRevision, requestedRevision } from './revision.ts';

/**
 * Stores the revision of the run, or the current one, in the run store and returns it; or returns why the run
 * must not execute it.
 */
export async function revisionFor(
  { client, conn }: OperatorContext,
  run: WorkflowRun,
  { spec, metadata: { namespace = '' } }: WebhookRoute,
): Promise<ReturnType<typeof chooseRevision>> {
  const ref = { namespace, name: requestedRevision(run, spec) };
  const chosen = chooseRevision(run, spec, await client.find(controllerRevisions, ref));
  if ('reason' in chosen) return chosen;
  // The run store may no longer have older revisions.
  const { name, revision } = chosen.revision;
  const put = await putRevision(conn, spec.projectUID, name, revision);
  if (put.outcome === 'unavailable') throw unreachable(put);
  return chosen;
}
