/**
 * The graph of a draft: explicit edges, allowed connections, and the node order that the API requires. Pure.
 */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isTrigger } from '../../workflows/kinds.ts';

/** Identifies an edge: two nodes have at most one edge per direction. */
export type EdgeEnds = { from: string; to: string };

export function edgeId({ from, to }: EdgeEnds): string {
  return `${from}>${to}`;
}

/** All edges, including those of a chain, which a spec leaves out. */
export function edgesOf({ nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>): WorkflowEdge[] {
  if (edges !== undefined) return edges;
  return nodes.slice(1).map((node, index) => ({ from: nodes[index]?.id ?? '', to: node.id }));
}

/** The nodes that can reach this one, whose output it may refer to. */
export function nodesBefore(edges: readonly WorkflowEdge[], id: string): Set<string> {
  return walk(id, (at) => edges.filter(({ to }) => to === at).map(({ from }) => from));
}

/** The nodes that are reachable from this one. */
export function nodesAfter(edges: readonly WorkflowEdge[], id: string): Set<string> {
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

/** Why no edge may connect these nodes; undefined if it may. */
export function connectionProblem(
  spec: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  { from, to }: EdgeEnds,
): string | undefined {
  const target = spec.nodes.find(({ id }) => id === to);
  if (target === undefined || !spec.nodes.some(({ id }) => id === from)) return 'This node does not exist.';
  if (from === to) return 'A node cannot connect to itself.';
  if (isTrigger(target)) return 'Nothing can connect to the trigger.';
  const edges = edgesOf(spec);
  if (edges.some((edge) => edge.from === from && edge.to === to)) return 'These nodes are already connected.';
  if (nodesAfter(edges, to).has(from)) return 'This connection would create a cycle.';
  return undefined;
}

/**
 * Orders the nodes so that every edge points forward, with the trigger first and otherwise stable. Edges to
 * unknown nodes are dropped. If the nodes form a chain in this order, the edges are left out.
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
    // In a cycle, which only YAML can contain, no node is free: take the first, and the API server reports
    // the problem.
    const free = rest.findIndex(({ id }) => (waiting.get(id) ?? 0) <= 0);
    const [node] = rest.splice(Math.max(free, 0), 1);
    if (node === undefined) break;
    ordered.push(node);
    for (const { from, to } of edges) if (from === node.id) waiting.set(to, (waiting.get(to) ?? 0) - 1);
  }
  return ordered;
}

/** Whether a workflow without `edges` has exactly these edges. */
export function isChain(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]): boolean {
  if (edges.length !== nodes.length - 1) return false;
  const plain = new Set(
    edges.filter(({ when, after = 'Success' }) => when === undefined && after === 'Success').map(edgeId),
  );
  return nodes.slice(1).every((node, index) => plain.has(`${nodes[index]?.id}>${node.id}`));
}
