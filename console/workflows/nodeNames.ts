/** The display names of nodes, for pages that know no more of a workflow. Pure. */
import { membersOf } from '../../api/record.ts';
import { nameInSentence } from '../ui/visibleText.ts';

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

/** As `nodeName`, of a node of which only the names are known. */
export function named(names: NodeNames, id: string): string {
  const name = names.get(id);
  if (name === undefined) return id;
  const isShared = [...names].some(([other, its]) => other !== id && its === name);
  return isShared ? `${nameInSentence(name)} (${id})` : nameInSentence(name);
}
