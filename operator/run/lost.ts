/**
 * Ends runs that have begun and that the run store does not know any more. Nobody else would ever write their status: no
 * runner holds them, and nothing of them can be claimed.
 */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/run.ts';
import { done, WaitingError, type Action } from '../../kube/controller.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { readBrief } from '../../runs/read.ts';
import type { OperatorContext } from '../context.ts';
import type { Pacer } from '../pacer.ts';
import { workflowRuns } from '../resources.ts';
import { isNew } from './decide.ts';
import { endRun } from './end.ts';

/**
 * Ends the run as Failed with `DataLost` if the run store does not know it. A run leaves the store only after its end is
 * recorded: what the API server shows after the store was asked, without a cache, is therefore the last word.
 */
export async function endIfLost(
  context: OperatorContext,
  pacer: Pacer,
  { metadata: { name, namespace = '', uid } }: WorkflowRun,
): Promise<Action> {
  const { world, conn, client, log } = context;
  const project = world.namespaces.get(undefined, namespace)?.metadata.uid;
  if (project === undefined) return done();
  const state = await readBrief(conn, project, name);
  if (isUnavailable(state))
    throw new WaitingError('the run store cannot be reached', state.retryAfterSeconds * 1_000);
  if (state) return done();
  await pacer.take();
  const run = await client.find(workflowRuns, { namespace, name });
  if (!run || run.metadata.uid !== uid || run.metadata.deletionTimestamp !== undefined) return done();
  if (isNew(run) || isTerminal(run.status?.phase)) return done();
  const message = `The run store lost its data before the run had ended, so that it cannot go on. Look at what its nodes have done, then create a new WorkflowRun with spec.retryOf: ${name}.`;
  log.warn({ namespace, run: name }, 'the run store lost a run, ending it');
  await endRun(context, run, { phase: 'Failed', reason: 'DataLost', message });
  return done();
}
