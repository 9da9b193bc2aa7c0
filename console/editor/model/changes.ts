/** The changes of a draft that affect the events of an active workflow. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { edgesOf } from './graph.ts';
import { isTrigger, nodeKind } from '../../workflows/kinds.ts';
import type { Draft } from './model.ts';
import { isEqual, mergePatch } from '../../kube/patch.ts';

export type LiveChange = { kind: 'added' | 'changed' | 'removed'; what: string };

/**
 * The changes that take effect for the next event once the draft is saved, with nodes by their IDs. Empty if
 * the draft is inactive or differs only in names, descriptions, test data and positions.
 */
export function liveChanges(saved: Draft, draft: Draft): LiveChange[] {
  if (!draft.spec.active) return [];
  const [before, after] = [executed(saved.spec), executed(draft.spec)];
  const settings = Object.keys(mergePatch(before.settings, after.settings) ?? {});
  return [
    ...nodeChanges(before.nodes, after.nodes),
    ...(isEqual(before.edges, after.edges) ? [] : [{ kind: 'changed' as const, what: 'connections' }]),
    ...settings.map((what) => ({ kind: 'changed' as const, what })),
  ];
}

function nodeChanges(before: Map<string, WorkflowNode>, after: Map<string, WorkflowNode>): LiveChange[] {
  const kept = [...after].filter(([id]) => before.has(id));
  return [
    ...[...after.keys()].filter((id) => !before.has(id)).map((what) => ({ kind: 'added' as const, what })),
    ...kept
      .filter(([id, node]) => !isEqual(before.get(id), node))
      .map(([what]) => ({ kind: 'changed' as const, what })),
    ...[...before.keys()].filter((id) => !after.has(id)).map((what) => ({ kind: 'removed' as const, what })),
  ];
}

/** The parts of a spec that decide what an event does. */
function executed({
  nodes,
  edges,
  displayName: _name,
  description: _description,
  ...settings
}: WorkflowSpec) {
  const joined = edgesOf({ nodes, ...(edges && { edges }) }).map((edge) => ({ after: 'Success', ...edge }));
  const sorted = joined.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));
  return { nodes: new Map(nodes.map((node) => [node.id, executedNode(node)])), edges: sorted, settings };
}

const keyOf = ({ from, to }: { from: string; to: string }) => `${from}>${to}`;

function executedNode({ displayName: _name, ...node }: WorkflowNode): WorkflowNode {
  const kind = isTrigger(node) ? nodeKind(node) : undefined;
  if (kind === undefined) return node;
  const { testData: _testData, ...trigger } = { ...node[kind] } as Record<string, unknown>;
  return { ...node, [kind]: trigger };
}
