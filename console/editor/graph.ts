/** The graph of a draft: its edges written out, what may be joined, and the order that the API wants. Pure. */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { isTrigger } from './kinds.ts';

/** Which edge: no two edges join the same pair. */
export type EdgeEnds = { from: string; to: string };

/** The id of an edge on the canvas. */
export function edgeId({ from, to }: EdgeEnds): string {
  return `${from}>${to}`;
}

/** The edges, also those of a chain, which are not written. */
export function edgesOf({ nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>): WorkflowEdge[] {
  if (edges !== undefined) return edges;
  return nodes.slice(1).map((node, index) => ({ from: nodes[index]?.id ?? '', to: node.id }));
}

/** The nodes from which a way leads to this one: those whose output it may refer to. */
export function nodesBefore(edges: readonly WorkflowEdge[], id: string): Set<string> {
  return walk(id, (at) => edges.filter(({ to }) => to === at).map(({ from }) => from));
}

/** The nodes to which a way leads from this one. */
export function nodesBehind(edges: readonly WorkflowEdge[], id: string): Set<string> {
  return walk(id, (at) => edges.filter(({ from }) => from === at).map(({ to }) => to));
}

function walk(start: string, next: (id: string) => string[]): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const id of next(at)) {
      if (found.has(id)) continue;
      found.add(id);
      open.push(id);
    }
  }
  return found;
}

/** Why no edge may lead from one node to the other; undefined where it may. */
export function whyNotJoined(
  spec: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  { from, to }: EdgeEnds,
): string | undefined {
  const target = spec.nodes.find(({ id }) => id === to);
  if (target === undefined || !spec.nodes.some(({ id }) => id === from)) return 'There is no such node.';
  if (from === to) return 'A node cannot come after itself.';
  if (isTrigger(target)) return 'Nothing comes before the trigger.';
  const edges = edgesOf(spec);
  if (edges.some((edge) => edge.from === from && edge.to === to)) return 'They are joined already.';
  if (nodesBehind(edges, to).has(from)) return 'That would be a circle: a run only goes forward.';
  return undefined;
}

/**
 * The nodes in an order in which every edge points forward, the trigger first, and otherwise as they were. Edges to nodes that are not
 * there are left out; where the nodes then are a chain in this order, the edges are not written at all.
 */
export function orderedGraph(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
): Pick<WorkflowSpec, 'nodes' | 'edges'> {
  const ids = new Set(nodes.map(({ id }) => id));
  const kept = edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const ordered = inOrder(nodes, kept);
  return isChain(ordered, kept) ? { nodes: ordered } : { nodes: ordered, edges: kept };
}

function inOrder(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]): WorkflowNode[] {
  const waiting = new Map(nodes.map(({ id }) => [id, edges.filter(({ to }) => to === id).length]));
  const rest = [...nodes.filter(isTrigger), ...nodes.filter((node) => !isTrigger(node))];
  const ordered: WorkflowNode[] = [];
  while (rest.length > 0) {
    // In a circle, which only a text can hold, nothing is free: the first one is taken, and the API server says what is wrong.
    const free = rest.findIndex(({ id }) => (waiting.get(id) ?? 0) <= 0);
    const [node] = rest.splice(Math.max(free, 0), 1);
    if (node === undefined) break;
    ordered.push(node);
    for (const { from, to } of edges) if (from === node.id) waiting.set(to, (waiting.get(to) ?? 0) - 1);
  }
  return ordered;
}

/** Whether the edges are exactly those that a workflow without `edges` has. */
export function isChain(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]): boolean {
  if (edges.length !== nodes.length - 1) return false;
  const plain = new Set(
    edges.filter(({ when, after = 'Success' }) => when === undefined && after === 'Success').map(edgeId),
  );
  return nodes.slice(1).every((node, index) => plain.has(`${nodes[index]?.id}>${node.id}`));
}
