/** The changes of a draft, and those that affect the events of an active workflow. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { labelOf } from '../../forms/labels.ts';
import { edgesOf } from './graph.ts';
import { isTrigger, nodeKind, identifiedName } from '../../workflows/kinds.ts';
import type { Draft } from './model.ts';
import { isEqual, mergePatch } from '../../kube/patch.ts';

/**
 * `what`: the name of a node, or the label of a setting. `disabled`, `enabled`: nothing else of the node has
 * changed.
 */
export type LiveChange = {
  kind: 'added' | 'changed' | 'disabled' | 'enabled' | 'removed';
  what: string;
  isNode?: true;
};

type Settings = Omit<WorkflowSpec, 'nodes' | 'edges'>;

/**
 * The changes that take effect for the next event once the draft is saved, with nodes by their IDs. Empty if
 * the draft is inactive or differs only in names, descriptions, test data and positions.
 */
export function liveChanges(saved: Draft, draft: Draft): LiveChange[] {
  if (!draft.spec.active) return [];
  const [before, after] = [executed(saved.spec), executed(draft.spec)];
  return [
    ...nodeChanges(before.nodes, after.nodes),
    ...edgeChanges(saved.spec, draft.spec),
    ...settingChanges(before.settings, after.settings),
  ];
}

/** All changes of the spec, with nodes by their names. */
export function specChanges(saved: Draft, draft: Draft): LiveChange[] {
  const { nodes: before, edges: _were, ...settings } = saved.spec;
  const { nodes: after, edges: _are, ...changed } = draft.spec;
  const byId = (nodes: readonly WorkflowNode[]) => new Map(nodes.map((node) => [node.id, node]));
  return [
    ...nodeChanges(byId(before), byId(after)),
    ...edgeChanges(saved.spec, draft.spec),
    ...settingChanges(settings, changed),
  ];
}

/** The change of the notes, which are published with the spec. */
export function noteChanges(saved: Draft, draft: Draft): LiveChange[] {
  return isEqual(saved.notes, draft.notes) ? [] : [{ kind: 'changed', what: 'Notes' }];
}

/** Nodes that a chain gains or loses are changes by themselves: its connections are written nowhere. */
function edgeChanges(before: WorkflowSpec, after: WorkflowSpec): LiveChange[] {
  const areChains = before.edges === undefined && after.edges === undefined;
  const [were, are] = areChains ? [keptNodes(before, after), keptNodes(after, before)] : [before, after];
  return isEqual(sortedEdges(were), sortedEdges(are)) ? [] : [{ kind: 'changed', what: 'Connections' }];
}

/** A chain of the nodes that the other spec has, too. */
function keptNodes({ nodes }: WorkflowSpec, other: WorkflowSpec): Pick<WorkflowSpec, 'nodes'> {
  const known = new Set(other.nodes.map(({ id }) => id));
  return { nodes: nodes.filter(({ id }) => known.has(id)) };
}

function settingChanges(before: Settings, after: Settings): LiveChange[] {
  return Object.keys(mergePatch(before, after) ?? {}).map((name) => ({
    kind: 'changed',
    what: labelOf(name),
  }));
}

function nodeChanges(before: Map<string, WorkflowNode>, after: Map<string, WorkflowNode>): LiveChange[] {
  const changeOf = (kind: LiveChange['kind'], node: WorkflowNode): LiveChange => ({
    kind,
    what: identifiedName(node),
    isNode: true,
  });
  const kept = [...after].filter(([id]) => before.has(id));
  return [
    ...[...after].filter(([id]) => !before.has(id)).map(([, node]) => changeOf('added', node)),
    ...kept
      .filter(([id, node]) => !isEqual(before.get(id), node))
      .map(([id, node]) => changeOf(kindOfChange(before.get(id), node), node)),
    ...[...before].filter(([id]) => !after.has(id)).map(([, node]) => changeOf('removed', node)),
  ];
}

function kindOfChange(before: WorkflowNode | undefined, after: WorkflowNode): LiveChange['kind'] {
  const { disabled: was, ...rest } = before ?? after;
  const { disabled: is, ...now } = after;
  if (was === is || !isEqual(rest, now)) return 'changed';
  return is ? 'disabled' : 'enabled';
}

/** The parts of a spec that decide what an event does. */
function executed({
  nodes,
  edges: _edges,
  displayName: _name,
  description: _description,
  ...settings
}: WorkflowSpec) {
  return { nodes: new Map(nodes.map((node) => [node.id, executedNode(node)])), settings };
}

function sortedEdges(spec: Pick<WorkflowSpec, 'nodes' | 'edges'>) {
  const joined = edgesOf(spec).map((edge) => ({ after: 'Success', ...edge }));
  return joined.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));
}

const keyOf = ({ from, to }: { from: string; to: string }) => `${from}>${to}`;

function executedNode({ displayName: _name, ...node }: WorkflowNode): WorkflowNode {
  const kind = isTrigger(node) ? nodeKind(node) : undefined;
  if (kind === undefined) return node;
  const { testData: _testData, ...trigger } = { ...node[kind] } as Record<string, unknown>;
  return { ...node, [kind]: trigger };
}
