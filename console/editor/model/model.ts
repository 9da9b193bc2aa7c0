/**
 * The draft: a workflow's spec, the positions of its nodes, and notes. Every operation is pure and produces
 * a graph that the API accepts: edges between existing nodes, no cycle, nodes ordered so that edges point
 * forward, the trigger first, a chain without edges.
 */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { connectionProblem, edgesOf, orderedGraph, removalProblem, type EdgeEnds } from './graph.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { boxesOf, EMPTY_FRAME, withRoom } from './frames.ts';
import { keepOtherwise } from './otherwise.ts';
import { gapFor, labelOf, movedRight, WIDEST_GAP, withLabelRoom } from './labelRoom.ts';
import { CARD, freePlace, GAP, placeFirst, STEP, type Box, type Position, type Positions } from './place.ts';
import { RUN_SCOPE } from '../../../api/scopes.ts';
import { scopesOf } from './scopes.ts';
import type { Notes } from './notes.ts';
import { pinOf, withoutPin, withPin, type Pins } from './pin.ts';
import { renameInEdge, renameInNode } from './references.ts';

export type Draft = {
  readonly spec: WorkflowSpec;
  readonly positions: Positions;
  /** Also of nodes that were removed, so that undo brings both back. */
  readonly pins?: Pins;
  readonly notes?: Notes;
};

/** A change of a draft. It returns the same draft if nothing changed. */
export type Operation = (draft: Draft) => Draft;

export function nodeOf({ spec }: Draft, id: string): WorkflowNode | undefined {
  return spec.nodes.find((node) => node.id === id);
}

export function triggerOf({ spec }: Draft): WorkflowNode | undefined {
  return spec.nodes.find(isTrigger);
}

/** A free ID: the base itself, or with the next number. */
export function freeId(taken: Iterable<string>, base: string): string {
  const ids = new Set(taken);
  const name = base.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^[^A-Za-z]+/, '') || 'node';
  const stem = name.slice(0, 63);
  if (!ids.has(stem)) return stem;
  const root = stem.replace(/_\d+$/, '').slice(0, 56);
  let number = 2;
  while (ids.has(`${root}_${number}`)) number += 1;
  return `${root}_${number}`;
}

/**
 * Adds a node after another one, in the same group, and connects them; if that node has successors already,
 * as a new branch.
 */
export function addNode(draft: Draft, node: WorkflowNode, after?: string, position?: Position): Draft {
  if (isTrigger(node)) return addTrigger(draft, node);
  const place =
    position ?? placeBehind(draft, node, after ?? scopesOf(draft.spec.nodes).members(RUN_SCOPE).at(-1)?.id);
  const edges = edgesOf(draft.spec);
  const joined = after === undefined ? edges : [...edges, { from: after, to: node.id }];
  const added = after === undefined ? node : inScope(node, scopesOf(draft.spec.nodes).of(after));
  return spread(
    restructured(draft, [...draft.spec.nodes, added], joined, { ...draft.positions, [node.id]: place }),
  );
}

/** The node in the body of this group, or outside of groups. */
export function inScope(node: WorkflowNode, scope: string): WorkflowNode {
  const { within: _within, ...rest } = node;
  return scope === RUN_SCOPE ? rest : { ...rest, within: scope };
}

/** A free place to the right of a node or of its frame, among the nodes of its scope. */
function placeBehind({ spec, positions }: Draft, node: WorkflowNode, id = ''): Position {
  const scopes = scopesOf(spec.nodes);
  const boxes = boxesOf(spec.nodes, positions);
  const siblings = scopes.members(scopes.of(id)).flatMap((node) => boxes.get(node.id) ?? []);
  const box = boxes.get(id) ?? { x: 0, y: 0, ...CARD };
  const branches = edgesOf(spec).flatMap(({ from, to }) => (from === id ? (boxes.get(to) ?? []) : []));
  return freePlace(siblings, {
    x: columnBehind(box, branches, GAP.x),
    y: box.y + (box.height - heightOf(node)) / 2,
  });
}

/** Where a node behind this box begins: in the column of its branches, whose labels may have moved it. */
function columnBehind({ x, width }: Box, branches: readonly Box[], gap: number): number {
  const right = x + width;
  const column = branches.find((other) => other.x >= right + gap && other.x <= right + WIDEST_GAP);
  return column?.x ?? right + gap;
}

/** The height of a new node. */
function heightOf({ group }: WorkflowNode): number {
  return group === undefined ? CARD.height : EMPTY_FRAME.height;
}

/** The draft with room around each frame. */
export function spread(draft: Draft): Draft {
  return { ...draft, positions: withRoom(draft.spec, draft.positions) };
}

/** Makes this node the trigger. It takes over the edges of the former trigger, and references are renamed. */
function addTrigger(draft: Draft, node: WorkflowNode): Draft {
  const former = triggerOf(draft);
  if (former === undefined) {
    const starts = draft.spec.nodes.filter(({ id }) => !edgesOf(draft.spec).some(({ to }) => to === id));
    const edges = [...starts.map(({ id }) => ({ from: node.id, to: id })), ...edgesOf(draft.spec)];
    return restructured(draft, [node, ...draft.spec.nodes], edges, {
      ...draft.positions,
      [node.id]: placeFirst(draft.positions),
    });
  }
  const replaced = updateNode(draft, former.id, () => ({ ...node, id: former.id }));
  return node.id === former.id ? replaced : renameNode(replaced, former.id, node.id);
}

/** Inserts a node into an edge. The condition stays on the first half. */
export function insertOnEdge(draft: Draft, ends: EdgeEnds, node: WorkflowNode): Draft {
  const edges = edgesOf(draft.spec);
  const edge = edges.find(({ from, to }) => from === ends.from && to === ends.to);
  if (edge === undefined) return addNode(draft, node, ends.from);
  const added = inScope(node, scopesOf(draft.spec.nodes).of(ends.from));
  return spread(
    restructured(
      draft,
      [...draft.spec.nodes, added],
      edges.flatMap((other) =>
        other === edge
          ? [
              { ...edge, to: node.id },
              { from: node.id, to: ends.to },
            ]
          : [other],
      ),
      placedBetween(draft, node, ends),
    ),
  );
}

/**
 * The positions after a node was inserted between two others: the nodes behind it move to the right. If the
 * connection leads back to the left, to another row, nothing moves.
 */
function placedBetween(draft: Draft, node: WorkflowNode, ends: EdgeEnds): Positions {
  const { spec, positions } = draft;
  const boxes = boxesOf(spec.nodes, positions);
  const [from, to] = [boxes.get(ends.from), boxes.get(ends.to)];
  if (from === undefined || to === undefined || to.x < from.x + from.width)
    return { ...positions, [node.id]: placeBehind(draft, node, ends.from) };
  const edges = edgesOf(spec);
  const others = edges.filter((edge) => edge.from === ends.from && edge.to !== ends.to);
  const branches = others.flatMap((edge) => boxes.get(edge.to) ?? []);
  const x = columnBehind(from, branches, gapFor(labelOf(edges, ends)));
  const moved = movedRight(spec, positions, new Set([ends.to]), x + STEP.x - to.x);
  const scopes = scopesOf(spec.nodes);
  const after = boxesOf(spec.nodes, moved);
  const siblings = scopes.members(scopes.of(ends.from)).flatMap(({ id }) => after.get(id) ?? []);
  return { ...moved, [node.id]: freePlace(siblings, { x, y: to.y + (to.height - heightOf(node)) / 2 }) };
}

/** Connects two nodes. Does nothing if the connection is not allowed. */
export function connect(draft: Draft, ends: EdgeEnds): Draft {
  if (connectionProblem(draft.spec, ends) !== undefined) return draft;
  return restructured(draft, draft.spec.nodes, [...edgesOf(draft.spec), { from: ends.from, to: ends.to }]);
}

/** Removes edges. Does nothing if a body would have none left: its nodes would be connected as a chain. */
export function disconnect(draft: Draft, ends: readonly EdgeEnds[]): Draft {
  const isRemoved = (edge: EdgeEnds) => ends.some(({ from, to }) => edge.from === from && edge.to === to);
  const edges = edgesOf(draft.spec);
  const kept = edges.filter((edge) => !isRemoved(edge));
  if (kept.length === edges.length || removalProblem(draft.spec, ends) !== undefined) return draft;
  return restructured(draft, draft.spec.nodes, kept);
}

/** Changes the condition of an edge, and makes room for it. Undefined members are removed. */
export function updateEdge(
  draft: Draft,
  ends: EdgeEnds,
  change: Pick<WorkflowEdge, 'when' | 'after'>,
): Draft {
  const edges = edgesOf(draft.spec).map((edge) =>
    edge.from === ends.from && edge.to === ends.to ? withoutUndefined({ ...edge, ...change }) : edge,
  );
  const next = restructured(draft, draft.spec.nodes, edges);
  return { ...next, positions: withLabelRoom(next.spec, next.positions, ends) };
}

/**
 * Removes nodes. The neighbors of a node between two others are connected. The body of a removed group takes
 * its place in the workflow, unless it is removed too.
 */
export function removeNodes(draft: Draft, ids: readonly string[]): Draft {
  return ids.reduce(removeNode, draft);
}

function removeNode(draft: Draft, id: string): Draft {
  if (nodeOf(draft, id) === undefined) return draft;
  const { [id]: _gone, ...positions } = draft.positions;
  const body = scopesOf(draft.spec.nodes).members(id);
  const edges = edgesOf(draft.spec);
  const nodes = draft.spec.nodes.filter((node) => node.id !== id);
  if (body.length === 0) return restructured(draft, nodes, bridged(edges, id), positions);
  const outer = scopesOf(draft.spec.nodes).of(id);
  const ids = new Set(body.map((node) => node.id));
  const entries = body.filter((node) => !edges.some(({ to }) => to === node.id));
  const exits = body.filter((node) => !edges.some(({ from }) => from === node.id));
  const unwrapped = edges.flatMap((edge) => {
    if (edge.to === id) return entries.map((entry) => ({ ...edge, to: entry.id }));
    return edge.from === id ? exits.map((exit) => ({ ...edge, from: exit.id })) : [edge];
  });
  const moved = nodes.map((node) => (ids.has(node.id) ? inScope(node, outer) : node));
  return restructured(draft, moved, unwrapped, positions);
}

/** The edges without those of a node. The neighbors of a node between two others are connected. */
export function bridged(edges: readonly WorkflowEdge[], id: string): WorkflowEdge[] {
  const into = edges.filter(({ to }) => to === id);
  const outOf = edges.filter(({ from }) => from === id);
  const rest = edges.filter((edge) => !into.includes(edge) && !outOf.includes(edge));
  const [before, next] = [into[0], outOf[0]];
  const isBetween = into.length === 1 && outOf.length === 1 && before !== undefined && next !== undefined;
  const bridge = isBetween ? [{ ...before, to: next.to }] : [];
  const isNew = !rest.some(({ from, to }) => from === bridge[0]?.from && to === bridge[0]?.to);
  return isNew ? [...rest, ...bridge] : rest;
}

/** Changes the ID of a node and all references to it. Does nothing if the ID is taken. */
export function renameNode(draft: Draft, id: string, next: string): Draft {
  if (id === next || nodeOf(draft, id) === undefined || nodeOf(draft, next) !== undefined) return draft;
  const renaming = new Map([[id, next]]);
  const nodes = draft.spec.nodes.map((node) => {
    const renamed = renameInNode(node, renaming);
    return renamed.id === id ? { ...renamed, id: next } : renamed;
  });
  const { [id]: place, ...others } = draft.positions;
  const pin = pinOf(draft, id);
  const renamed = pin === undefined ? draft : withPin(withoutPin(draft, id), next, pin);
  return {
    ...renamed,
    spec: {
      ...draft.spec,
      nodes,
      ...(draft.spec.edges && { edges: draft.spec.edges.map((edge) => renameInEdge(edge, renaming)) }),
    },
    positions: place === undefined ? others : { ...others, [next]: place },
  };
}

/** Changes a node's fields. Use `renameNode` for the ID. */
export function updateNode(draft: Draft, id: string, change: (node: WorkflowNode) => WorkflowNode): Draft {
  const nodes = draft.spec.nodes.map((node) => (node.id === id ? { ...change(node), id } : node));
  return { ...draft, spec: { ...draft.spec, nodes } };
}

/** The fields of a workflow beside its graph. Undefined members are removed. */
export type Settings = Partial<Omit<WorkflowSpec, 'nodes' | 'edges'>>;

export function updateSettings(draft: Draft, change: Settings): Draft {
  return { ...draft, spec: withoutUndefined({ ...draft.spec, ...change }) };
}

export function moveNodes(draft: Draft, moved: Positions): Draft {
  return { ...draft, positions: { ...draft.positions, ...moved } };
}

/** The draft with this graph, in order. */
export function restructured(
  draft: Draft,
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
  positions: Positions = draft.positions,
): Draft {
  const { nodes: _nodes, edges: _edges, ...settings } = draft.spec;
  const kept = keepOtherwise(edgesOf(draft.spec), edges);
  return { ...draft, spec: { ...settings, ...orderedGraph(nodes, kept) }, positions };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
