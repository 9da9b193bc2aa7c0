/** The display names of nodes, for pages that know no more of a workflow. Pure. */
import { membersOf } from '../../api/record.ts';

/** The display names of nodes, by ID. Nodes without one have none. */
export type NodeNames = ReadonlyMap<string, string>;

/** The display names of these nodes, which need not be valid. */
export function nodeNamesOf(nodes: readonly unknown[]): NodeNames {
  return new Map(
    nodes.flatMap((node): [string, string][] => {
      const { id, displayName } = membersOf(node);
      return typeof id === 'string' &&
        typeof displayName === 'string' &&
        displayName !== '' &&
        displayName !== id
        ? [[id, displayName]]
        : [];
    }),
  );
}

/** The display name of the node with this ID, or the ID. */
export function named(names: NodeNames, id: string): string {
  return names.get(id) ?? id;
}
