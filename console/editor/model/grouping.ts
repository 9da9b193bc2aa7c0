/** Changes of groups and their bodies. Pure, as all operations of the draft. */
import { RUN_SCOPE } from '../../../api/scopes.ts';
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import { boxesOf, covers, FRAME, movedBy } from './frames.ts';
import { edgesOf, isChain } from './graph.ts';
import { addNode, bridged, inScope, removeNodes, restructured, spread, type Draft } from './model.ts';
import { freePlace, GAP, type Positions } from './place.ts';
import { moveProblem, scopesOf } from './scopes.ts';

/** Adds a node to the body of a group: after the last one of a chain, and else without a connection. */
export function addInside(draft: Draft, node: WorkflowNode, group: string): Draft {
  const last = lastOfChain(draft, group);
  if (last !== undefined) return addNode(draft, node, last);
  const scopes = scopesOf(draft.spec.nodes);
  const boxes = boxesOf(draft.spec.nodes, draft.positions);
  const frame = boxes.get(group) ?? { x: 0, y: 0 };
  const body = scopes.members(group).flatMap((member) => boxes.get(member.id) ?? []);
  const place = freePlace(body, { x: frame.x + FRAME.left, y: frame.y + FRAME.top });
  return spread(
    restructured(draft, [...draft.spec.nodes, inScope(node, group)], edgesOf(draft.spec), {
      ...draft.positions,
      [node.id]: place,
    }),
  );
}

/** The last node of a body that is a chain; undefined for any other body, and for an empty one. */
function lastOfChain({ spec }: Draft, group: string): string | undefined {
  const members = scopesOf(spec.nodes).members(group);
  const ids = new Set(members.map(({ id }) => id));
  const edges = edgesOf(spec).filter(({ from }) => ids.has(from));
  return isChain(members, edges) ? members.at(-1)?.id : undefined;
}

/** A moved draft, with the connections that crossed the border of a group and are gone. */
export type Moved = { draft: Draft; removed: readonly WorkflowEdge[] };

/**
 * Moves nodes into the body of a group, or out of all groups. Connections that would cross the border are
 * removed: what was before a moved node is connected with what was after it, and in a chain the node gets a
 * place by its position. Returns why it cannot be done.
 */
export function moveInto(draft: Draft, ids: readonly string[], group: string | undefined): Moved | string {
  const problem = moveProblem(draft.spec.nodes, ids, group);
  if (problem !== undefined) return problem;
  return ids.reduce<Moved>(
    (moved, id) => {
      const next = moveOne(moved.draft, id, group ?? RUN_SCOPE);
      return { draft: next.draft, removed: [...moved.removed, ...next.removed] };
    },
    { draft, removed: [] },
  );
}

function moveOne(draft: Draft, id: string, scope: string): Moved {
  const scopes = scopesOf(draft.spec.nodes);
  if (scopes.of(id) === scope) return { draft, removed: [] };
  const edges = edgesOf(draft.spec);
  const removed = edges.filter(({ from, to }) => from === id || to === id);
  const kept = bridged(edges, id);
  const nodes = draft.spec.nodes.map((node) => (node.id === id ? inScope(node, scope) : node));
  const inChain = scope === RUN_SCOPE ? kept : chained(draft, kept, { id, scope });
  const next = inChain.find(({ from }) => from === id)?.to;
  return {
    draft: spread(restructured(draft, nodes, inChain, besideOthers(draft, id, { scope, next }))),
    removed,
  };
}

/**
 * The positions with the node beside those of its new scope, if it would cover one: at the place of the next
 * node of a chain, which moves to the right with all after it, and else below.
 */
function besideOthers(
  { spec, positions }: Draft,
  id: string,
  { scope, next }: { scope: string; next: string | undefined },
): Positions {
  const scopes = scopesOf(spec.nodes);
  const boxes = boxesOf(spec.nodes, positions);
  const box = boxes.get(id);
  const others = scopes.members(scope).filter((node) => node.id !== id);
  const taken = others.flatMap((node) => boxes.get(node.id) ?? []);
  if (box === undefined || !taken.some((other) => covers(other, box))) return positions;
  const own = new Set([id, ...scopes.bodyOf(id)]);
  const nextBox = boxes.get(next ?? '');
  const to = nextBox ?? freePlace(taken, box);
  const placed = movedBy(positions, own, { x: to.x - box.x, y: to.y - box.y });
  if (nextBox === undefined) return placed;
  const later = others.filter((node) => (boxes.get(node.id)?.x ?? 0) >= nextBox.x);
  return movedBy(placed, new Set(later.flatMap((node) => [node.id, ...scopes.bodyOf(node.id)])), {
    x: box.width + GAP.x,
    y: 0,
  });
}

/** The edges with the node at its place in the chain of a body, by its position. */
function chained(
  { spec, positions }: Draft,
  edges: readonly WorkflowEdge[],
  { id, scope }: { id: string; scope: string },
): readonly WorkflowEdge[] {
  const members = scopesOf(spec.nodes).members(scope);
  const ids = new Set(members.map((node) => node.id));
  const inside = edges.filter(({ from }) => ids.has(from));
  if (members.length === 0 || !isChain(members, inside)) return edges;
  const x = positions[id]?.x ?? Infinity;
  const order = members.map((node) => node.id);
  const at = order.findIndex((other) => (positions[other]?.x ?? 0) > x);
  const chain = order.toSpliced(at === -1 ? order.length : at, 0, id);
  return [
    ...edges.filter((edge) => !inside.includes(edge)),
    ...chain.slice(1).map((to, index) => ({ from: chain[index] ?? '', to })),
  ];
}

/** Removes nodes with the bodies of groups among them. */
export function removeWithBodies(draft: Draft, ids: readonly string[]): Draft {
  const scopes = scopesOf(draft.spec.nodes);
  const inner = ids.flatMap((id) => scopes.bodyOf(id));
  // Innermost nodes first, so that no body moves out of its group.
  return removeNodes(draft, [...new Set([...inner.toReversed(), ...ids])]);
}
