/** The order of a run's nodes in records and answers: that of its graph. */
import type { Revision } from '../../api/revision.ts';

/**
 * The ids of the nodes: the trigger, then the steps in the order of the spec, which every edge follows. Empty
 * where the revision is gone.
 */
export function nodeOrder(revision: Pick<Revision, 'trigger' | 'steps'> | undefined): string[] {
  return revision ? [revision.trigger.id, ...revision.steps.map(({ id }) => id)] : [];
}

/** The nodes in that order; unknown nodes come last, in their order. */
export function inOrderOf<Node extends { id: string }>(
  nodes: readonly Node[],
  order: readonly string[],
): Node[] {
  const place = new Map(order.map((id, index) => [id, index]));
  const at = ({ id }: Node) => place.get(id) ?? order.length;
  return nodes.toSorted((a, b) => at(a) - at(b));
}
