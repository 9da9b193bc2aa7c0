/**
 * Copied parts of a workflow: nodes, the edges between them and positions. Pasting assigns free IDs and
 * renames references within the part; references to other nodes stay.
 */
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import { readPositions } from './annotation.ts';
import { edgesOf } from './graph.ts';
import { withRoom } from './frames.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { layoutOf } from './layout.ts';
import { freeId, restructured, triggerOf, type Draft } from './model.ts';
import { scopesOf } from './scopes.ts';
import { displayProblemIn } from './displayProblem.ts';
import { CARD, freePlace, STEP, type Position, type Positions } from './place.ts';
import { renameInEdge, renameInNode } from './references.ts';
import { isRecord } from '../../../api/record.ts';

export type Fragment = {
  nodes: readonly WorkflowNode[];
  edges: readonly WorkflowEdge[];
  positions: Positions;
};

/** These nodes, groups with their bodies. */
export function fragmentOf({ spec, positions }: Draft, ids: readonly string[]): Fragment {
  const { bodyOf } = scopesOf(spec.nodes);
  const wanted = new Set(ids.flatMap((id) => [id, ...bodyOf(id)]));
  return {
    nodes: spec.nodes.filter(({ id }) => wanted.has(id)),
    edges: edgesOf(spec).filter(({ from, to }) => wanted.has(from) && wanted.has(to)),
    positions: Object.fromEntries(Object.entries(positions).filter(([id]) => wanted.has(id))),
  };
}

/** The clipboard content of a fragment: a partial manifest with positions. */
export function clipboardOf({ nodes, edges, positions }: Fragment): Record<string, unknown> {
  const places = Object.entries(positions).map(([id, { x, y }]) => [id, [Math.round(x), Math.round(y)]]);
  return { nodes, edges, positions: Object.fromEntries(places) as unknown };
}

/** Reads a fragment from pasted YAML: nodes and edges, or a whole Workflow; undefined for anything else. */
export function readFragment(value: unknown): Fragment | undefined {
  if (!isRecord(value)) return undefined;
  if (isRecord(value['spec'])) return readFragment(value['spec']);
  const { nodes, edges, positions } = value;
  if (!Array.isArray(nodes) || nodes.length === 0 || !nodes.every(isNode)) return undefined;
  const spec = { nodes, ...(Array.isArray(edges) && { edges: edges.filter(isEdge) }) };
  if (displayProblemIn(spec) !== undefined) return undefined;
  const known = readPositions(JSON.stringify(positions ?? {}));
  const places = nodes.every(({ id }) => known[id]) ? known : layoutOf(spec);
  return { nodes, edges: edgesOf(spec), positions: places };
}

/**
 * The draft with the fragment, and the IDs of the new nodes. A second trigger is left out: a workflow has
 * one.
 */
export function pasted(draft: Draft, fragment: Fragment): { draft: Draft; ids: string[] } {
  const own = triggerOf(draft);
  const coming = fragment.nodes.filter((node) => own === undefined || !isTrigger(node));
  const taken = new Set(draft.spec.nodes.map(({ id }) => id));
  const renaming = new Map<string, string>();
  // Two nodes of a text that somebody wrote may have one ID: connections and references mean the first.
  const newIds = coming.map(({ id }) => {
    const free = freeId(taken, id);
    taken.add(free);
    if (!renaming.has(id)) renaming.set(id, free);
    return free;
  });
  const leftOut = fragment.nodes.find((node) => !coming.includes(node));
  if (leftOut && own) renaming.set(leftOut.id, own.id);
  const groups = new Set(draft.spec.nodes.flatMap(({ id, group }) => (group === undefined ? [] : [id])));
  const nodes = coming.map((node, at) => {
    const { within, ...renamed } = renameInNode(node, renaming);
    const isKnown = within !== undefined && (renaming.has(node.within ?? '') || groups.has(within));
    return { ...renamed, ...(isKnown && { within }), id: newIds[at] ?? node.id };
  });
  const inside = new Set(coming.map(({ id }) => id));
  const edges = fragment.edges
    .filter(({ from, to }) => inside.has(from) && inside.has(to))
    .map((edge) => renameInEdge(edge, renaming));
  const places = shifted(draft.positions, coming, fragment.positions);
  const positions: Record<string, Position> = {};
  for (const [at, { id }] of coming.entries()) {
    const next = newIds[at] ?? id;
    const place = places[id] ?? { x: 0, y: 0 };
    positions[next] = next === renaming.get(id) ? place : freePlace(Object.values(positions), place);
  }
  const joined = restructured(draft, [...draft.spec.nodes, ...nodes], [...edgesOf(draft.spec), ...edges], {
    ...draft.positions,
    ...positions,
  });
  const next = { ...joined, positions: withRoom(joined.spec, joined.positions) };
  return { draft: next, ids: nodes.map(({ id }) => id) };
}

/** Moves all nodes down together until none covers an existing one. */
function shifted(taken: Positions, nodes: readonly WorkflowNode[], positions: Positions): Positions {
  const others = Object.values(taken);
  const own = nodes.flatMap(({ id }) => (positions[id] ? [[id, positions[id]] as const] : []));
  const covers = (one: Position, by: number) =>
    others.some(
      (other) => Math.abs(one.x - other.x) < CARD.width && Math.abs(one.y + by - other.y) < CARD.height,
    );
  let by = 0;
  while (own.some(([, at]) => covers(at, by))) by += STEP.y;
  return Object.fromEntries(own.map(([id, { x, y }]) => [id, { x, y: y + by }]));
}

function isNode(value: unknown): value is WorkflowNode {
  return isRecord(value) && typeof value['id'] === 'string' && value['id'] !== '';
}

function isEdge(value: unknown): value is WorkflowEdge {
  return isRecord(value) && typeof value['from'] === 'string' && typeof value['to'] === 'string';
}
