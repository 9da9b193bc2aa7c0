/** Follows the record of a run. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { isGone, isTransient } from '../../kube/errors.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError, EXIT } from '../shared/exit.ts';

type Where = Pick<Cluster, 'client' | 'namespace'>;

const WATCH_SECONDS = 300;

/**
 * The record now, and after each change, until the run has ended.
 * @throws CommandError if it is deleted meanwhile; ApiError if it does not exist or cannot be read
 */
export async function* followRun(
  { client, namespace }: Where,
  name: string,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<WorkflowRun> {
  while (!signal.aborted) {
    const found = await client.get(workflowRuns, { namespace, name }, { signal });
    yield found;
    if (isTerminal(found.status?.phase)) return;
    const { resourceVersion = '' } = found.metadata;
    for await (const run of changesOf({ client, namespace }, { name, resourceVersion }, signal)) {
      yield run;
      if (isTerminal(run.status?.phase)) return;
    }
  }
}

/** The changes after a version, until the server ends the watch or the connection breaks. */
async function* changesOf(
  { client, namespace }: Where,
  { name, resourceVersion }: { name: string; resourceVersion: string },
  signal: AbortSignal,
): AsyncGenerator<WorkflowRun> {
  const fieldSelector = `metadata.name=${name}`;
  const options = { namespace, fieldSelector, resourceVersion, timeoutSeconds: WATCH_SECONDS };
  try {
    for await (const event of client.watch(workflowRuns, options, signal)) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED')
        throw new CommandError(EXIT.missing, `run ${name} was deleted, which cancels an unfinished run`);
      yield event.object;
    }
  } catch (error) {
    // The caller reads the run again, which throws if the server is still away.
    if (!isGone(error) && !isTransient(error)) throw error;
  }
}
