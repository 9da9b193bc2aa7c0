/**
 * Runs that only the API server knows any more, read with the gateway's own right: the caller was authorised before. For
 * the internal listener alone: calls of strangers must not become reads of the API server.
 */
import { GROUP, VERSION } from '../../api/group.ts';
import { WORKFLOW_RUN, type WorkflowRun } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { namespacedResource } from '../../kube/resource.ts';

const workflowRuns = namespacedResource<WorkflowRun>(GROUP, VERSION, WORKFLOW_RUN.kind, WORKFLOW_RUN.plural);
/** A person waits. */
const OPTIONS = { timeoutMs: 3_000, retries: 1 };

/** The record of a run; undefined if there is none. Throws an ApiError if the API server does not answer. */
export async function recordedRun(
  { client }: { client: Pick<KubeClient, 'find'> },
  namespace: string,
  run: string,
): Promise<WorkflowRun | undefined> {
  return client.find(workflowRuns, { namespace, name: run }, OPTIONS);
}
