/**
 * The graph of a draft: explicit edges, allowed connections, and the node order that the API requires. Pure.
 */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { RUN_SCOPE } from '../../../api/scopes.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { scopesOf, type Scopes } from './scopes.ts';

/** Identifies an edge: two nodes have at most one edge per direction. */
export type EdgeEnds = { from: string; to: string };

export function edgeId({ from, to }: EdgeEnds): string {
  return `${from}>${to}`;
}

/** All edges, including those of chains, which a spec leaves out. */
export function edgesOf({ nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>): WorkflowEdge[] {
  const scopes = scopesOf(nodes);
  const given = edges ?? [];
  const written = new Set(given.map(({ from }) => scopes.of(from)));
  const isRunChain = edges === undefined || (edges.length > 0 && !written.has(RUN_SCOPE));
  const implied = scopeNames(nodes).flatMap((scope) =>
    (scope === RUN_SCOPE ? isRunChain : !written.has(scope)) ? chainOf(scopes.members(scope)) : [],
  );
  return implied.length === 0 ? [...given] : [...given, ...implied];
}

/** The edges that a spec needs: those of scopes that are not a chain in the order of the list. */
export function writtenEdges(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
): WorkflowEdge[] | undefined {
  const scopes = scopesOf(nodes);
  const chains = new Set(
    scopeNames(nodes).filter((scope) => isChain(scopes.members(scope), edgesIn(scope, edges, scopes))),
  );
  const written = edges.filter(({ from }) => !chains.has(scopes.of(from)));
  return written.length === 0 && chains.has(RUN_SCOPE) ? undefined : written;
}

function scopeNames(nodes: readonly WorkflowNode[]): string[] {
  return [RUN_SCOPE, ...nodes.filter(({ group }) => group !== undefined).map(({ id }) => id)];
}

function edgesIn(scope: string, edges: readonly WorkflowEdge[], scopes: Scopes): WorkflowEdge[] {
  return edges.filter(({ from }) => scopes.of(from) === scope);
}

function chainOf(nodes: readonly WorkflowNode[]): WorkflowEdge[] {
  return nodes.slice(1).map((node, index) => ({ from: nodes[index]?.id ?? '', to: node.id }));
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
  const scopes = scopesOf(spec.nodes);
  if (scopes.of(from) !== scopes.of(to)) return borderProblem(scopes, { from, to });
  const edges = edgesOf(spec);
  if (edges.some((edge) => edge.from === from && edge.to === to)) return 'These nodes are already connected.';
  if (nodesAfter(edges, to).has(from)) return 'This connection would create a cycle.';
  return undefined;
}

function borderProblem(scopes: Scopes, { from, to }: EdgeEnds): string {
  // Of nodes of different scopes, the group around one can be in the scope of the other.
  const groupOf = (id: string, other: string) =>
    scopes.around(id).find((group) => scopes.of(group) === scopes.of(other));
  const [ofTo, ofFrom] = [groupOf(to, from), groupOf(from, to)];
  if (ofTo !== undefined) return `${to} is in the group ${ofTo}. Connect ${from} and ${ofTo}.`;
  if (ofFrom !== undefined) return `${from} is in the group ${ofFrom}. Connect ${ofFrom} and ${to}.`;
  return `${from} is in the group ${scopes.of(from)}, ${to} in the group ${scopes.of(to)}. Connect the groups.`;
}

/** Why the connection cannot be removed; undefined if it can. */
export function removalProblem(
  spec: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  ends: readonly EdgeEnds[],
): string | undefined {
  const scopes = scopesOf(spec.nodes);
  const removed = new Set(ends.map(edgeId));
  const edges = edgesOf(spec);
  const left = edges.filter((edge) => !removed.has(edgeId(edge)));
  const emptied = ends
    .map(({ from }) => scopes.of(from))
    .find((scope) => scope !== RUN_SCOPE && edgesIn(scope, left, scopes).length === 0);
  return emptied === undefined
    ? undefined
    : `The nodes of a group without connections run one after the other. To remove this connection, move a node out of ${emptied}, or connect them in another way first.`;
}

/**
 * Orders the nodes so that every edge points forward, with the trigger first, each group before its body, and
 * otherwise stable. Edges to unknown nodes are dropped. Edges of a scope that is a chain in this order are
 * left out.
 */
export function orderedGraph(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
): Pick<WorkflowSpec, 'nodes' | 'edges'> {
  const ids = new Set(nodes.map(({ id }) => id));
  const kept = edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const ordered = inOrder(nodes, kept);
  const written = writtenEdges(ordered, kept);
  return written === undefined ? { nodes: ordered } : { nodes: ordered, edges: written };
}

function inOrder(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]): WorkflowNode[] {
  const scopes = scopesOf(nodes);
  const withBody = (scope: string): WorkflowNode[] =>
    inOrderOfEdges(scopes.members(scope), edges).flatMap((node) =>
      node.group === undefined ? [node] : [node, ...withBody(node.id)],
    );
  return withBody(RUN_SCOPE);
}

/** The nodes of one scope. */
function inOrderOfEdges(nodes: readonly WorkflowNode[], all: readonly WorkflowEdge[]): WorkflowNode[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const edges = all.filter(({ from, to }) => ids.has(from) && ids.has(to));
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

/** Whether these are exactly the edges of a chain of the nodes. */
export function isChain(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]): boolean {
  if (edges.length !== nodes.length - 1) return false;
  const plain = new Set(
    edges.filter(({ when, after = 'Success' }) => when === undefined && after === 'Success').map(edgeId),
  );
  return nodes.slice(1).every((node, index) => plain.has(`${nodes[index]?.id}>${node.id}`));
}
