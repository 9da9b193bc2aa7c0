/**
 * "Otherwise": a connection that is taken if none of the others out of its node is. It is written as the
 * negation of their conditions, and is written again when one of them changes. Pure.
 */
import type { WorkflowEdge } from '../../../api/workflow.ts';
import { edgeId } from './graph.ts';

/** The condition that holds if those of the edges beside this one do not; undefined if there are none. */
export function otherwiseOf(edges: readonly WorkflowEdge[], edge: WorkflowEdge): string | undefined {
  const conditions = edges.flatMap((other) => (isBeside(other, edge) ? (other.when ?? []) : []));
  return conditions.length === 0 ? undefined : conditions.map((when) => `!(${when})`).join(' && ');
}

/** Whether the edge is taken exactly if none of those beside it is. */
export function isOtherwise(edges: readonly WorkflowEdge[], edge: WorkflowEdge): boolean {
  return edge.when !== undefined && edge.when === otherwiseOf(edges, edge);
}

/** Whether an edge beside this one is taken otherwise: there can be one only. */
export function hasOtherwise(edges: readonly WorkflowEdge[], edge: WorkflowEdge): boolean {
  return edges.some((other) => isBeside(other, edge) && isOtherwise(edges, other));
}

function isBeside(other: WorkflowEdge, edge: WorkflowEdge): boolean {
  const isSame = other.to === edge.to;
  return !isSame && other.from === edge.from && (other.after ?? 'Success') === (edge.after ?? 'Success');
}

/** The changed edges. Those that were taken otherwise and were not changed themselves still are. */
export function keepOtherwise(
  before: readonly WorkflowEdge[],
  after: readonly WorkflowEdge[],
): WorkflowEdge[] {
  const kept = new Map(
    before
      .filter((edge) => isOtherwise(before, edge))
      .map((edge): [string, string | undefined] => [edgeId(edge), edge.when]),
  );
  if (kept.size === 0) return [...after];
  return after.map((edge) => {
    const isKept = edge.when !== undefined && kept.get(edgeId(edge)) === edge.when;
    return isKept ? withCondition(edge, otherwiseOf(after, edge)) : edge;
  });
}

function withCondition({ when: _when, ...edge }: WorkflowEdge, when: string | undefined): WorkflowEdge {
  return when === undefined ? edge : { ...edge, when };
}
