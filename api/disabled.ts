/** Steps that are not executed (`disabled`). Pure. */
import type { WorkflowNode, WorkflowSpec } from './workflow.ts';

/** The reason of a node that was reached and not executed, because it is disabled. */
export const DISABLED = 'Disabled';

type Spec = Pick<WorkflowSpec, 'nodes' | 'edges'>;

/**
 * The spec as runs execute it and as checks see it: a disabled step does nothing and needs nothing, and the
 * body of a disabled group is left out. All other nodes and edges stay. A runner that does not know
 * `disabled` executes such a step as one without an effect.
 */
export function withoutDisabled<Given extends Spec>(spec: Given): Given {
  if (!spec.nodes.some(({ disabled }) => disabled)) return spec;
  const left = bodiesOfDisabled(spec.nodes);
  const nodes = spec.nodes.flatMap((node) =>
    left.has(node.id) ? [] : [node.disabled ? disabledStep(node) : node],
  );
  if (!spec.edges || left.size === 0) return { ...spec, nodes };
  const edges = spec.edges.filter(({ from, to }) => !left.has(from) && !left.has(to));
  // The nodes outside of groups are a chain if all edges are in bodies.
  const { edges: _, ...chain } = spec;
  return edges.length === 0 && spec.edges.length > 0
    ? ({ ...chain, nodes } as Given)
    : { ...spec, nodes, edges };
}

/** The nodes in disabled groups, also those in groups there. A group precedes its body. */
function bodiesOfDisabled(nodes: readonly WorkflowNode[]): Set<string> {
  const disabled = new Set(nodes.filter(({ disabled }) => disabled).map(({ id }) => id));
  const left = new Set<string>();
  for (const { id, within } of nodes)
    if (within !== undefined && (disabled.has(within) || left.has(within))) left.add(id);
  return left;
}

function disabledStep({ id, displayName, within }: WorkflowNode): WorkflowNode {
  return {
    id,
    ...(displayName !== undefined && { displayName }),
    ...(within !== undefined && { within }),
    disabled: true,
    skill: { name: 'set', parameters: { values: {} } },
  };
}

/** Whether the CEL expression asks whether the node was executed: `has(nodes.<ID>)`. IDs are words. */
export function testsNode(source: string, id: string): boolean {
  return new RegExp(String.raw`\bhas\(\s*nodes\s*\.\s*${id}\s*\)`).test(source);
}
