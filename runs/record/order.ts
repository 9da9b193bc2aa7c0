/** The order in which records and answers list the nodes of a run: that of its graph. */
import type { Revision } from '../../api/revision.ts';

/** The ids of the nodes: the trigger, then the steps in the order of the spec, which every edge follows. None where the revision is gone. */
export function nodeOrder(revision: Pick<Revision, 'trigger' | 'steps'> | undefined): string[] {
  return revision ? [revision.trigger.id, ...revision.steps.map(({ id }) => id)] : [];
}

/** The nodes in that order. Those that it does not name are last, as they were. */
export function inOrderOf<Node extends { id: string }>(
  nodes: readonly Node[],
  order: readonly string[],
): Node[] {
  const place = new Map(order.map((id, index) => [id, index]));
  const at = ({ id }: Node) => place.get(id) ?? order.length;
  return nodes.toSorted((a, b) => at(a) - at(b));
}
