/**
 * The scopes of a workflow. A node with `within` belongs to the body of that group; all other nodes belong to
 * the scope of the run. Edges connect nodes of one scope. Pure.
 */
import {
  executedBefore,
  graphOf,
  predecessors,
  previousOf,
  type Graph,
  type GraphEdge,
  type GraphNode,
} from './graph.ts';

/** The name of the scope of the run, which is no group. */
export const RUN_SCOPE = '';
/** How many groups a node may be nested in. */
export const MAX_DEPTH = 3;

export type ScopedNode = GraphNode & { within?: string | undefined; group?: boolean };

/**
 * The graph of each scope, by the ID of its group. In the graph of a body the group itself stands for the
 * trigger: edges lead from it to the entries of the body, which are its nodes without another incoming edge.
 * A scope without edges of its own is a chain in the order of the list; the scope of the run is a chain only
 * if no edges are given, or if all of them are in bodies.
 */
export function scopeGraphs(
  nodes: readonly ScopedNode[],
  edges?: readonly GraphEdge[],
): ReadonlyMap<string, Graph> {
  const scopeOfNode = new Map(nodes.map(({ id, within }) => [id, within ?? RUN_SCOPE]));
  const members = Map.groupBy(nodes, ({ within }) => within ?? RUN_SCOPE);
  const inner = Map.groupBy(edges ?? [], ({ from }) => scopeOfNode.get(from) ?? RUN_SCOPE);
  const isChain = edges === undefined || (edges.length > 0 && !inner.has(RUN_SCOPE));
  const root = graphOf(members.get(RUN_SCOPE) ?? [], isChain ? undefined : (inner.get(RUN_SCOPE) ?? []));
  const graphs = new Map([[RUN_SCOPE, root]]);
  for (const { id, group } of nodes)
    if (group) graphs.set(id, bodyGraph(id, members.get(id) ?? [], inner.get(id)));
  return graphs;
}

/** The graph of one node that is executed for each item on its own, as if it were the body of a group. */
export function itemGraph(id: string): Graph {
  return bodyGraph(`${id}[]`, [{ id, trigger: false }], []);
}

function bodyGraph(group: string, body: readonly ScopedNode[], edges: readonly GraphEdge[] = []): Graph {
  const entry: GraphNode = { id: group, trigger: true };
  if (edges.length === 0) return graphOf([entry, ...body]);
  const targets = new Set(edges.map(({ to }) => to));
  const entries = body.filter(({ id }) => !targets.has(id)).map(({ id }) => ({ from: group, to: id }));
  return graphOf([entry, ...body], [...entries, ...edges]);
}

/** What a node can name, by the scopes of its workflow. */
export type Visibility = {
  readonly graphs: ReadonlyMap<string, Graph>;
  /** Whether the workflow has the node. */
  has(id: string): boolean;
  /** The groups around a node, the innermost first. */
  groupsAround(id: string): readonly string[];
  /**
   * The nodes whose outputs a node may reference, in the order of the list: those before it in its scope, and
   * those before each group around it. The groups around it are not among them: they have not ended.
   */
  before(id: string): readonly string[];
  /** The node before, if there is exactly one; for the entries of a body the group. */
  previousOf(id: string): string | undefined;
  /** The node itself; of a disabled step the node before it, if there is exactly one. */
  executedBefore(id: string): string | undefined;
  /** The nodes with an edge to this one, in its scope. */
  sourcesOf(id: string): readonly string[];
};

/** The visibility of the nodes of a workflow. The scopes must be valid, as the CRD holds. */
export function visibilityOf(nodes: readonly ScopedNode[], edges?: readonly GraphEdge[]): Visibility {
  const graphs = scopeGraphs(nodes, edges);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const groupsAround = (id: string): string[] => {
    const groups: string[] = [];
    for (let at = byId.get(id)?.within; at !== undefined && groups.length < nodes.length; ) {
      groups.push(at);
      at = byId.get(at)?.within;
    }
    return groups;
  };
  const graphAround = (id: string) => graphs.get(byId.get(id)?.within ?? RUN_SCOPE);
  const before = (id: string): string[] => {
    const visible = new Set<string>();
    const groups = groupsAround(id);
    for (const node of [id, ...groups]) {
      const graph = graphAround(node);
      if (graph) for (const earlier of predecessors(graph, node)) visible.add(earlier);
    }
    return nodes.flatMap((node) => (visible.has(node.id) && !groups.includes(node.id) ? [node.id] : []));
  };
  return {
    graphs,
    has: (id) => byId.has(id),
    groupsAround,
    before,
    previousOf: (id) => {
      const graph = graphAround(id);
      return graph && previousOf(graph, id);
    },
    executedBefore: (id) => {
      const graph = graphAround(id);
      return graph && executedBefore(graph, id);
    },
    sourcesOf: (id) => (graphAround(id)?.into.get(id) ?? []).map(({ from }) => from),
  };
}
