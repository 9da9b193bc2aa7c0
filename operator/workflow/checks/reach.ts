/** Checks that every step can be reached, and that no edge follows a failure of the trigger. */
import { unreached } from '../../../api/graph.ts';
import { scopedNodesOfSpec } from '../../../api/revision.ts';
import { RUN_SCOPE, scopeGraphs } from '../../../api/scopes.ts';
import { isTriggerKind, kindOf } from '../../../api/workflow.ts';
import type { Check, Violation } from './check.ts';

/** Every step has an incoming edge, except disabled steps that no edge leaves. */
export const stepsAreReached: Check = (spec) => {
  const graphs = [...scopeGraphs(scopedNodesOfSpec(spec), spec.edges).values()];
  const isUnused = (id: string) => graphs.some((graph) => graph.disabled.has(id) && !graph.outOf.has(id));
  return graphs
    .flatMap(unreached)
    .filter((id) => !isUnused(id))
    .map(
      (id): Violation => ({
        reason: 'UnreachableStep',
        message: `node ${id}: no edge leads to it, so it would never run: add an edge to it, or remove it`,
      }),
    );
};

/** No edge leaves a fail node, which ends the run. */
export const failuresAreLast: Check = (spec) => {
  const graphs = scopeGraphs(scopedNodesOfSpec(spec), spec.edges);
  return spec.nodes.flatMap(({ id, fail, within = RUN_SCOPE }): Violation[] => {
    const [next] = fail ? (graphs.get(within)?.outOf.get(id) ?? []) : [];
    if (!next) return [];
    const message = `edge ${id} → ${next.to}: is never taken, since the fail node ${id} ends the run: remove the edge, or list the edges of the workflow`;
    return [{ reason: 'UnreachableStep', message }];
  });
};

/** No edge waits for a failure of the trigger, which never fails. */
export const triggersNeverFail: Check = ({ nodes, edges = [] }) =>
  edges.flatMap(({ from, to, after }): Violation[] => {
    const isOfTrigger = nodes.some((node) => node.id === from && isTriggerKind(kindOf(node)));
    if (after !== 'Failure' || !isOfTrigger) return [];
    const message = `edge ${from} → ${to}: after: Failure is never taken, since a trigger does not fail: remove after`;
    return [{ reason: 'UnreachableStep', message }];
  });
