/** Several branches out of one node. Pure. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { celStep } from '../../forms/expression/cel.ts';
import { edgesOf } from './graph.ts';
import { addNode, freeId, updateEdge, type Draft } from './model.ts';
import { otherwiseOf } from './otherwise.ts';

/** A branch with its condition in CEL; without one it is taken otherwise. */
export type Branch = { label: string; when?: string };

/**
 * Adds a branch for each label: a connection with its condition, and a node with the label that passes on the
 * data of the node before. Returns the IDs of these nodes, too.
 */
export function addBranches(
  draft: Draft,
  from: string,
  branches: readonly Branch[],
): { draft: Draft; ids: string[] } {
  const ids: string[] = [];
  let next = draft;
  for (const { label, when } of branches) {
    const node = branchNode(next, from, label);
    ids.push(node.id);
    next = addNode(next, node, from);
    const edge = { from, to: node.id };
    next = updateEdge(next, edge, { when: when ?? otherwiseOf(edgesOf(next.spec), edge) });
  }
  return { draft: next, ids };
}

function branchNode({ spec }: Draft, from: string, label: string): WorkflowNode {
  const ids = spec.nodes.map(({ id }) => id);
  return {
    id: freeId(ids, label.toLowerCase()),
    displayName: label,
    skill: { name: 'set', parameters: { values: `nodes${celStep(from)}.data_content` } },
  };
}
