/**
 * The draft: a workflow's spec and the positions of its nodes. Every operation is pure and produces a graph
 * that the API accepts: edges between existing nodes, no cycle, nodes ordered so that edges point forward,
 * the trigger first, a chain without edges.
 */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { edgesOf, nodesAfter, orderedGraph, connectionProblem, type EdgeEnds } from './graph.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { makeRoom, placeAfter, placeFirst, STEP, type Position, type Positions } from './place.ts';
import { renameInEdge, renameInNode } from './references.ts';

export type Draft = { readonly spec: WorkflowSpec; readonly positions: Positions };

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
  const stem = base.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^[^A-Za-z]+/, '') || 'node';
  if (!ids.has(stem)) return stem.slice(0, 63);
  const root = stem.replace(/_\d+$/, '').slice(0, 56);
  let number = 2;
  while (ids.has(`${root}_${number}`)) number += 1;
  return `${root}_${number}`;
}

/** Adds a node after another one and connects them; if that node has successors already, as a new branch. */
export function addNode(draft: Draft, node: WorkflowNode, after?: string, position?: Position): Draft {
  if (isTrigger(node)) return addTrigger(draft, node);
  const place = position ?? placeAfter(draft.positions, after ?? draft.spec.nodes.at(-1)?.id ?? '');
  const edges = edgesOf(draft.spec);
  const joined = after === undefined ? edges : [...edges, { from: after, to: node.id }];
  return restructured(draft, [...draft.spec.nodes, node], joined, {
    ...draft.positions,
    [node.id]: place,
  });
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
  const from = draft.positions[ends.from] ?? { x: 0, y: 0 };
  const to = draft.positions[ends.to] ?? from;
  const x = from.x + STEP.x;
  const later = new Set([ends.to, ...nodesAfter(edges, ends.to)]);
  return restructured(
    draft,
    [...draft.spec.nodes, node],
    edges.flatMap((other) =>
      other === edge
        ? [
            { ...edge, to: node.id },
            { from: node.id, to: ends.to },
          ]
        : [other],
    ),
    { ...makeRoom(draft.positions, later, x), [node.id]: { x, y: to.y } },
  );
}

/** Connects two nodes. Does nothing if the connection is not allowed. */
export function connect(draft: Draft, ends: EdgeEnds): Draft {
  if (connectionProblem(draft.spec, ends) !== undefined) return draft;
  return restructured(draft, draft.spec.nodes, [...edgesOf(draft.spec), { from: ends.from, to: ends.to }]);
}

export function disconnect(draft: Draft, ends: readonly EdgeEnds[]): Draft {
  const isRemoved = (edge: EdgeEnds) => ends.some(({ from, to }) => edge.from === from && edge.to === to);
  const edges = edgesOf(draft.spec);
  const kept = edges.filter((edge) => !isRemoved(edge));
  return kept.length === edges.length ? draft : restructured(draft, draft.spec.nodes, kept);
}

/** Changes the condition of an edge. Undefined members are removed. */
export function updateEdge(
  draft: Draft,
  ends: EdgeEnds,
  change: Pick<WorkflowEdge, 'when' | 'after'>,
): Draft {
  const edges = edgesOf(draft.spec).map((edge) =>
    edge.from === ends.from && edge.to === ends.to ? withoutUndefined({ ...edge, ...change }) : edge,
  );
  return restructured(draft, draft.spec.nodes, edges);
}

/** Removes nodes. The neighbors of a node between two others are connected. */
export function removeNodes(draft: Draft, ids: readonly string[]): Draft {
  return ids.reduce(removeNode, draft);
}

function removeNode(draft: Draft, id: string): Draft {
  if (nodeOf(draft, id) === undefined) return draft;
  const edges = edgesOf(draft.spec);
  const into = edges.filter(({ to }) => to === id);
  const outOf = edges.filter(({ from }) => from === id);
  const rest = edges.filter((edge) => !into.includes(edge) && !outOf.includes(edge));
  const [before, next] = [into[0], outOf[0]];
  const isBetween = into.length === 1 && outOf.length === 1 && before !== undefined && next !== undefined;
  const bridge = isBetween ? [{ ...before, to: next.to }] : [];
  const isNew = !rest.some(({ from, to }) => from === bridge[0]?.from && to === bridge[0]?.to);
  const { [id]: _gone, ...positions } = draft.positions;
  const nodes = draft.spec.nodes.filter((node) => node.id !== id);
  return restructured(draft, nodes, isNew ? [...rest, ...bridge] : rest, positions);
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
  return {
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
  return { spec: { ...settings, ...orderedGraph(nodes, edges) }, positions };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
