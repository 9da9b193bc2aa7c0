/**
 * The graph of a workflow: its edges, its validation, and which nodes start next. Pure: the decision depends
 * only on the phases of the nodes, so that every runner decides the same after a takeover.
 */

import type { NodePhase } from './phase.ts';

/** A node as the graph sees it. Exactly one node is the trigger. */
export type GraphNode = {
  id: string;
  trigger: boolean;
  onError?: 'Fail' | 'Continue';
  /** It is not executed, and its edges are followed as after success. */
  disabled?: boolean;
};

/** `when` is a condition in CEL; the default of `after` is `Success`. */
export type GraphEdge = { from: string; to: string; when?: string; after?: 'Success' | 'Failure' };

/** A graph with its edges indexed. Nodes are in the order of the list; every edge points forward in it. */
export type Graph = {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly into: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly outOf: ReadonlyMap<string, readonly GraphEdge[]>;
  /** The nodes that are not executed. */
  readonly disabled: ReadonlySet<string>;
};

/** The given edges, or, if they are left out, a chain in the order of the list. */
export function edgesOf(nodes: readonly GraphNode[], edges?: readonly GraphEdge[]): readonly GraphEdge[] {
  if (edges) return edges;
  return nodes.slice(1).map((node, index) => ({ from: nodes[index]?.id ?? '', to: node.id }));
}

/** Indexes the edges. The graph must be valid: `checkGraph` returns no problem. */
export function graphOf(nodes: readonly GraphNode[], edges?: readonly GraphEdge[]): Graph {
  const all = edgesOf(nodes, edges);
  return {
    nodes,
    edges: all,
    into: Map.groupBy(all, (edge) => edge.to),
    outOf: Map.groupBy(all, (edge) => edge.from),
    disabled: new Set(nodes.flatMap(({ id, disabled }) => (disabled ? [id] : []))),
  };
}

/** A problem and its path in the manifest, such as `spec.edges[2].to`. */
export type GraphProblem = { path: string; message: string };

/** The pattern of node IDs. */
export const NODE_ID = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
const GRAPH_LIMITS = { nodes: 100, edges: 300 } as const;

/** The problems of a graph, in the order of the manifest; empty for a valid one. The CRD refuses the same. */
export function checkGraph(nodes: readonly GraphNode[], edges?: readonly GraphEdge[]): GraphProblem[] {
  return [...checkNodes(nodes), ...(edges ? checkEdges(nodes, edges) : checkChain(nodes))];
}

function checkNodes(nodes: readonly GraphNode[]): GraphProblem[] {
  const triggers = nodes.filter((node) => node.trigger).length;
  const first = firstIndexes(nodes.map((node) => node.id));
  return [
    ...problem(
      'spec.nodes',
      nodes.length < 1 || nodes.length > GRAPH_LIMITS.nodes,
      'a workflow must have 1 to 100 nodes',
    ),
    ...problem(
      'spec.nodes',
      triggers !== 1,
      `a workflow must have exactly one trigger, this one has ${triggers}`,
    ),
    ...nodes.flatMap(({ id }, index) => [
      ...problem(`spec.nodes[${index}].id`, !NODE_ID.test(id), ID_RULE),
      ...problem(`spec.nodes[${index}].id`, first.get(id) !== index, `another node has the same ID '${id}'`),
    ]),
  ];
}

const ID_RULE =
  'a node ID must begin with a letter and contain only letters, digits and _, at most 63 characters';

function checkChain(nodes: readonly GraphNode[]): GraphProblem[] {
  const isLater = nodes.some((node, index) => node.trigger && index > 0);
  return problem(
    'spec.nodes',
    isLater,
    'without edges the nodes form a chain, so the trigger must be the first node',
  );
}

function checkEdges(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphProblem[] {
  const position = firstIndexes(nodes.map((node) => node.id));
  const first = firstIndexes(edges.map(pairOf));
  return [
    ...problem('spec.edges', edges.length > GRAPH_LIMITS.edges, 'a workflow must have at most 300 edges'),
    ...edges.flatMap((edge, index) => [
      ...checkEnds(edge, `spec.edges[${index}]`, nodes, position),
      ...problem(`spec.edges[${index}]`, first.get(pairOf(edge)) !== index, JOIN_RULE),
    ]),
  ];
}

const JOIN_RULE = 'another edge connects the same two nodes: combine their conditions in one edge';

function checkEnds(
  edge: GraphEdge,
  path: string,
  nodes: readonly GraphNode[],
  position: ReadonlyMap<string, number>,
): GraphProblem[] {
  const from = position.get(edge.from);
  const to = position.get(edge.to);
  const backward = from !== undefined && to !== undefined && from >= to;
  const intoTrigger = to !== undefined && nodes[to]?.trigger === true;
  return [
    ...problem(`${path}.from`, from === undefined, `node '${edge.from}' does not exist`),
    ...problem(`${path}.to`, to === undefined, `node '${edge.to}' does not exist`),
    ...problem(`${path}.to`, intoTrigger, 'no edge may lead into the trigger'),
    ...problem(path, backward && !intoTrigger, BACKWARD_RULE),
  ];
}

const BACKWARD_RULE = 'edges must point forward: list the nodes in the order in which they run';

function problem(path: string, found: boolean, message: string): GraphProblem[] {
  return found ? [{ path, message }] : [];
}

function pairOf(edge: GraphEdge): string {
  return `${edge.from}>${edge.to}`;
}

function firstIndexes(keys: readonly string[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const [index, key] of keys.entries()) if (!first.has(key)) first.set(key, index);
  return first;
}

/**
 * The nodes that never run, because no edge leads to them. Edges point forward, so every other node is
 * reached from the trigger or from one of these.
 */
export function unreached(graph: Graph): string[] {
  return graph.nodes.flatMap(({ id, trigger }) => (trigger || graph.into.has(id) ? [] : [id]));
}

/**
 * The node before: the start of the only edge into a node, or, where that is disabled, the node before it.
 * Undefined if there are several edges, or none.
 */
export function previousOf(graph: Graph, id: string): string | undefined {
  const into = graph.into.get(id) ?? [];
  const [edge] = into;
  return edge && into.length === 1 ? executedBefore(graph, edge.from) : undefined;
}

/** The node itself, or, if it is disabled, the node before it. */
export function executedBefore(graph: Graph, id: string): string | undefined {
  return graph.disabled.has(id) ? previousOf(graph, id) : id;
}

/** The nodes from which a path leads to this one: those whose output it may reference. */
export function predecessors(graph: Graph, id: string): Set<string> {
  const found = new Set<string>();
  const open = [id];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const { from } of graph.into.get(node) ?? []) {
      if (found.has(from)) continue;
      found.add(from);
      open.push(from);
    }
  }
  return found;
}

/**
 * `ready`: the nodes to start now, concurrently. `skipped`: the nodes that will never start. `disabled`: the
 * nodes that would start now, but are disabled: they become Skipped, and their edges are decided then. Left
 * out if there are none. `finished`: no node runs and none will. `failed`: the first node, in the order of
 * the list, that fails the run.
 */
export type NextSteps = {
  ready: string[];
  skipped: string[];
  disabled?: string[];
  finished: boolean;
  failed?: string;
};

/**
 * Whether the condition of an edge holds. Called only for edges with `when` whose source has ended with an
 * output or error.
 */
export type EdgeCondition = (edge: GraphEdge) => boolean;

/**
 * Decides which nodes start, given the current phases. The trigger counts as Succeeded, a node without a
 * phase as Pending. Rules:
 *
 * - A node starts when every edge into it is settled and at least one is taken. When all are settled and none
 *   is taken, it is skipped, and this continues downstream; a node without edges into it is skipped.
 * - An edge is settled when its source has ended. From a Succeeded source it is taken if `after` is Success
 *   (or left out) and `when` holds. From a Failed source it is taken if `after` is Failure and `when` holds;
 *   with `onError: Continue` on the source, its Success edges count as well. From a disabled source that was
 *   reached it is taken like from a Succeeded one. From any other source it is not taken.
 * - A Failed node fails the run, unless it has `onError: Continue` or at least one of its Failure edges is
 *   taken. An Unknown or Cancelled node always fails the run.
 * - Once the run has failed, no further node starts: pending nodes are skipped, running nodes may end.
 *
 * Linear in nodes and edges. Errors of `holds` propagate: the caller fails the run with them.
 */
export function nextSteps(
  graph: Graph,
  states: ReadonlyMap<string, NodePhase>,
  holds: EdgeCondition,
): NextSteps {
  const settled = new Map<string, NodePhase>(states);
  for (const node of graph.nodes) if (node.trigger) settled.set(node.id, 'Succeeded');
  const taken = takenEdges(graph, settled, holds);
  const failed = graph.nodes.find((node) => failsRun(graph, node, settled.get(node.id), taken))?.id;
  return failed === undefined ? dueNodes(graph, settled, taken) : { ...drain(graph, settled), failed };
}

/**
 * The taken edges. An edge from a node that has not ended, or that was skipped, is not taken, unless the node
 * is disabled and an edge into it is taken.
 */
function takenEdges(
  graph: Graph,
  states: ReadonlyMap<string, NodePhase>,
  holds: EdgeCondition,
): Set<GraphEdge> {
  const taken = new Set<GraphEdge>();
  for (const node of graph.nodes) {
    const state = isPassed(graph, node, states, taken) ? 'Succeeded' : states.get(node.id);
    for (const edge of graph.outOf.get(node.id) ?? []) {
      if (follows(edge, node, state) && (edge.when === undefined || holds(edge))) taken.add(edge);
    }
  }
  return taken;
}

/** Whether the node is disabled and was reached. Edges point forward, so those into it are decided. */
function isPassed(
  graph: Graph,
  { id, disabled }: GraphNode,
  states: ReadonlyMap<string, NodePhase>,
  taken: ReadonlySet<GraphEdge>,
): boolean {
  if (!disabled || states.get(id) !== 'Skipped') return false;
  return graph.into.get(id)?.some((edge) => taken.has(edge)) === true;
}

function follows(edge: GraphEdge, source: GraphNode, state: NodePhase | undefined): boolean {
  const afterFailure = edge.after === 'Failure';
  if (state === 'Succeeded') return !afterFailure;
  return state === 'Failed' && (afterFailure || source.onError === 'Continue');
}

function failsRun(
  graph: Graph,
  node: GraphNode,
  state: NodePhase | undefined,
  taken: ReadonlySet<GraphEdge>,
): boolean {
  if (state === 'Unknown' || state === 'Cancelled') return true;
  if (state !== 'Failed' || node.onError === 'Continue') return false;
  return !graph.outOf.get(node.id)?.some((edge) => edge.after === 'Failure' && taken.has(edge));
}

function dueNodes(graph: Graph, states: Map<string, NodePhase>, taken: ReadonlySet<GraphEdge>): NextSteps {
  const steps: NextSteps = { ready: [], skipped: [], finished: true };
  for (const node of graph.nodes) {
    if (!isPending(states.get(node.id))) {
      if (!hasEnded(states.get(node.id))) steps.finished = false;
      continue;
    }
    const into = graph.into.get(node.id) ?? [];
    if (!into.every((edge) => hasEnded(states.get(edge.from)))) {
      steps.finished = false;
    } else if (into.some((edge) => taken.has(edge))) {
      (node.disabled ? (steps.disabled ??= []) : steps.ready).push(node.id);
      steps.finished = false;
    } else {
      steps.skipped.push(node.id);
      states.set(node.id, 'Skipped');
    }
  }
  return steps;
}

function drain(graph: Graph, states: ReadonlyMap<string, NodePhase>): NextSteps {
  const ids = graph.nodes.map((node) => node.id);
  return {
    ready: [],
    skipped: ids.filter((id) => isPending(states.get(id))),
    finished: ids.every((id) => isPending(states.get(id)) || hasEnded(states.get(id))),
  };
}

function isPending(state: NodePhase | undefined): boolean {
  return state === undefined || state === 'Pending';
}

function hasEnded(state: NodePhase | undefined): boolean {
  return !isPending(state) && state !== 'Running' && state !== 'Waiting';
}
