/**
 * Prunes ended WorkflowRuns by the history of their workflow, at a limited rate, and removes inputs and
 * outputs older than `dataTTL`.
 */
import { isTerminal } from '../../api/phase.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import { objectKey } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, watch, type Controller } from '../shared/controller.ts';
import { historyPolicy } from '../store/limits.ts';
import { pruningOf } from './pruning.ts';
import type { Pacer } from '../shared/pacer.ts';
import { workflowRuns } from '../shared/resources.ts';
import { BY_PARENT, BY_WORKFLOW, inNamespaceOf } from '../shared/caches.ts';
import { removeData } from './removeData.ts';
import { withDefaults, workflowDefaults } from '../shared/projectSettings.ts';

/** The most that one reconcile deletes, so that a workflow does not delay others. */
const AT_ONCE = 50;

type HistoryContext = OperatorContext & { pacer: Pacer };

export const historyController: Controller<HistoryContext> = {
  name: 'history',
  concurrency: 2,
  watches: [
    watch(
      ({ runs }) => runs,
      ({ metadata: { namespace = '' }, spec, status }) =>
        isTerminal(status?.phase) ? [{ namespace, name: spec.workflow }] : [],
    ),
    // The history of a child run does not count while its parent is unfinished.
    watch(
      ({ runs }) => runs,
      (run, change, { runs }) =>
        change.type === 'deleted' || isTerminal(run.status?.phase)
          ? runs
              .byIndex(BY_PARENT, inNamespaceOf(run, run.metadata.name))
              .map(({ metadata: { namespace = '' }, spec }) => ({ namespace, name: spec.workflow }))
          : [],
    ),
    watch(({ workflows }) => workflows, ifSpecChanged()),
    watch(
      ({ settings }) => settings,
      ifSpecChanged(({ metadata }, _change, { workflows }) => workflows.list(metadata.namespace).map(keyOf)),
    ),
  ],
  reconcile: reconcileHistory,
};

/** Prunes the runs of the workflow of that name, whether it still exists or not. */
async function reconcileHistory(key: Key, context: HistoryContext): Promise<Action> {
  const { caches, client, clock, pacer } = context;
  const workflow = caches.workflows.get(key.namespace, key.name);
  const defaults = workflowDefaults(caches, key.namespace);
  const spec = workflow ? withDefaults(workflow, defaults).spec : defaults;
  const runs = caches.runs.byIndex(BY_WORKFLOW, objectKey(key));
  const isUnfinished = (name: string): boolean => {
    const run = caches.runs.get(key.namespace, name);
    return run !== undefined && !isTerminal(run.status?.phase);
  };
  const { prune, strip, nextMs } = pruningOf(runs, historyPolicy(spec), clock.date(), isUnfinished);
  for (const { metadata } of prune.slice(0, AT_ONCE)) {
    await pacer.take();
    const { name, namespace = '', uid } = metadata;
    await client.delete(
      workflowRuns,
      { namespace, name },
      { propagation: 'Background', ...(uid !== undefined && { preconditions: { uid } }) },
    );
  }
  for (const run of strip.slice(0, AT_ONCE)) {
    await pacer.take();
    await removeData(context, run);
  }
  if (prune.length > AT_ONCE || strip.length > AT_ONCE) return after(0);
  return nextMs === undefined ? done() : after(nextMs);
}
