/** Three-way merge of two people's changes of a draft, node by node. Pure. */
import { isEqual } from '../../kube/patch.ts';
import { edgeId, edgesOf, orderedGraph, nodesAfter } from './graph.ts';
import type { Draft } from './model.ts';
import { mergeNotes, withNotes } from './notes.ts';

type Fields = Record<string, unknown>;

/**
 * Merges my changes and theirs since `base`. Undefined if both changed the same node, connection or setting
 * in different ways, if the merged connections form a cycle, or if a node would be in a removed group. If
 * both moved a node, their position wins.
 */
export function mergeDrafts(base: Draft, mine: Draft, theirs: Draft): Draft | undefined {
  const settings = merged(settingsOf(base), settingsOf(mine), settingsOf(theirs));
  const nodes = merged(nodesIn(base), nodesIn(mine), nodesIn(theirs));
  const edges = merged(edgesIn(base), edgesIn(mine), edgesIn(theirs));
  if (settings === undefined || nodes === undefined || edges === undefined) return undefined;
  const order = [...new Set([...theirs.spec.nodes, ...mine.spec.nodes].map(({ id }) => id))];
  const kept = order.flatMap((id) => nodes.get(id) ?? []);
  const graph = orderedGraph(kept, [...edges.values()]);
  if (hasCycle(graph) || hasLostGroup(kept)) return undefined;
  const positions = kept.flatMap(({ id }) => {
    const isMoved = !isEqual(base.positions[id], theirs.positions[id]);
    const place = (isMoved ? theirs.positions[id] : undefined) ?? mine.positions[id] ?? theirs.positions[id];
    return place ? [[id, place] as const] : [];
  });
  const spec = { ...Object.fromEntries(settings), ...graph } as Draft['spec'];
  const pins = mergePins(base, mine, theirs);
  const made = { spec, positions: Object.fromEntries(positions), ...(pins && { pins }) };
  return withNotes<Draft>(made, mergeNotes(base, mine, theirs));
}

/** The pins after both changes. If both changed the same pin, mine wins: no live run reads it. */
function mergePins(base: Draft, mine: Draft, theirs: Draft): Draft['pins'] {
  const [before, my, their] = [base, mine, theirs].map(({ pins }) => new Map(Object.entries(pins ?? {})));
  const pins = [...new Set([...(their?.keys() ?? []), ...(my?.keys() ?? [])])].flatMap((id) => {
    const isMine = !isEqual(before?.get(id), my?.get(id));
    const pin = (isMine ? my : their)?.get(id);
    return pin === undefined ? [] : [[id, pin] as const];
  });
  return pins.length === 0 ? undefined : Object.fromEntries(pins);
}

/** The entries after both changes; undefined if both changed the same entry in different ways. */
function merged<T>(base: Map<string, T>, mine: Map<string, T>, theirs: Map<string, T>) {
  const result = new Map<string, T>();
  for (const key of new Set([...theirs.keys(), ...mine.keys()])) {
    const [before, my, their] = [base.get(key), mine.get(key), theirs.get(key)];
    if (!isEqual(my, their) && !isEqual(before, my) && !isEqual(before, their)) return undefined;
    const value = isEqual(before, my) ? their : my;
    if (value !== undefined) result.set(key, value);
  }
  return result;
}

function settingsOf({ spec: { nodes: _nodes, edges: _edges, ...settings } }: Draft): Map<string, unknown> {
  return new Map(Object.entries(settings as Fields));
}

const nodesIn = ({ spec }: Draft) => new Map(spec.nodes.map((node) => [node.id, node]));
const edgesIn = ({ spec }: Draft) => new Map(edgesOf(spec).map((edge) => [edgeId(edge), edge]));

function hasCycle(graph: Pick<Draft['spec'], 'nodes' | 'edges'>): boolean {
  const edges = edgesOf(graph);
  return graph.nodes.some(({ id }) => nodesAfter(edges, id).has(id));
}

/** Whether a node is in the body of a group that the other person removed. */
function hasLostGroup(nodes: Draft['spec']['nodes']): boolean {
  const ids = new Set(nodes.map(({ id }) => id));
  return nodes.some(({ within }) => within !== undefined && !ids.has(within));
}
