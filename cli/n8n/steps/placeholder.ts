/** What stands for a node that was not converted: code that fails, and the original parameters. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { computeOutputs, computeSame } from './compute.ts';
import type { Draft } from './items.ts';
import type { NodeContext } from './context.ts';

/** The annotation with the original of a node. */
export const annotationOf = (id: string): string => `n8n.windlass.dev/${id}`;

const sentence = (id: string): string =>
  `Not imported from n8n: replace this node. The annotation ${annotationOf(id)} has its parameters`;

/** A draft with as many outputs as connections leave the node. */
export function placeholder(context: NodeContext, count: number): Draft {
  const body = `throw new Error(${JSON.stringify(sentence(context.id))});`;
  return count > 1 ? computeOutputs(context, body, Math.min(count, 32), []) : computeSame(context, body);
}

/** A node in place of one that no check admits. It keeps its ID, so that references to it remain valid. */
export function replacement({ id, within, displayName, disabled }: WorkflowNode): WorkflowNode {
  return {
    id,
    ...(displayName !== undefined && { displayName }),
    ...(within !== undefined && { within }),
    ...(disabled && { disabled }),
    code: { source: `throw new Error(${JSON.stringify(sentence(id))});` },
  };
}
