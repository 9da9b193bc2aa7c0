/** The part of a workflow that a test run executes which goes no further than one node (`until`). Pure. */
import { predecessors } from './graph.ts';
import { RUN_SCOPE, visibilityOf } from './scopes.ts';
import { TRIGGER_KINDS } from './triggerKinds.ts';
import type { WorkflowNode, WorkflowSpec } from './workflow.ts';

type Spec = Pick<WorkflowSpec, 'nodes' | 'edges'>;

/**
 * The spec with the trigger, the node and all that is before it, with the edges between them. Of a group
 * before it, it has the whole body, of a group around it what is before it there. The spec itself without
 * `until`, and where the trigger leads to no such node. The spec may be a draft with mistakes.
 */
export function specUpTo<Given extends Spec>(spec: Given, until: string | undefined): Given {
  const kept = until === undefined ? undefined : executedUpTo(spec, until);
  if (kept === undefined || kept.size === spec.nodes.length) return spec;
  const own = spec.nodes.filter(({ id }) => kept.has(id));
  const nodes = own.some(({ response }) => response !== undefined) ? own : own.map(withoutReplyTimeout);
  if (!spec.edges) return { ...spec, nodes };
  const edges = spec.edges.filter(({ from, to }) => kept.has(from) && kept.has(to));
  if (edges.length > 0 || spec.edges.length === 0) return { ...spec, nodes, edges };
  // What is left is a chain, and an empty list would say that nothing is connected.
  const { edges: _, ...chain } = spec;
  return { ...chain, nodes } as Given;
}

/** The IDs of the nodes; undefined where the trigger does not lead to the last one. */
function executedUpTo({ nodes, edges }: Spec, until: string): Set<string> | undefined {
  const scoped = nodes.map((node) => ({
    ...node,
    trigger: isTrigger(node),
    group: node.group !== undefined,
  }));
  const visible = visibilityOf(scoped, edges);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const around = new Set(visible.groupsAround(until));
  const before = (id: string) => {
    const graph = visible.graphs.get(byId.get(id)?.within ?? RUN_SCOPE);
    return graph === undefined ? [] : [...predecessors(graph, id)];
  };
  const path = [until, ...around];
  const found = new Set(path.flatMap((id) => [id, ...before(id)]));
  const trigger = nodes.find(isTrigger);
  if (!byId.has(until) || trigger === undefined || !found.has(trigger.id)) return undefined;
  const isInBody = ({ id }: WorkflowNode) =>
    visible.groupsAround(id).some((group) => found.has(group) && !around.has(group));
  return new Set(nodes.filter((node) => found.has(node.id) || isInBody(node)).map(({ id }) => id));
}

function isTrigger(node: WorkflowNode): boolean {
  return TRIGGER_KINDS.some((kind) => node[kind] !== undefined);
}

/** Without a response node the caller waits for nothing, and the API server refuses a time for that. */
function withoutReplyTimeout(node: WorkflowNode): WorkflowNode {
  if (node.webhook?.replyTimeout === undefined) return node;
  const { replyTimeout: _, ...webhook } = node.webhook;
  return { ...node, webhook };
}
