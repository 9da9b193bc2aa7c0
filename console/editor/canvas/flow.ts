/**
 * The draft as nodes and edges of React Flow. Unchanged elements keep their objects, so that they are not
 * redrawn. Pure.
 */
import type { Edge, Node } from '@xyflow/react';
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { DISABLED } from '../../../api/disabled.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { disabledIn } from '../model/disabling.ts';
import { edgeId, edgesOf } from '../model/graph.ts';
import type { Draft } from '../model/model.ts';
import { pinOf } from '../model/pin.ts';
import { boxesOf } from '../model/frames.ts';
import { labelsOf, NO_LABEL, type EdgeLabel } from '../model/edgeLabels.ts';
import { scopesOf } from '../model/scopes.ts';
import type { Problem, Problems } from '../model/problems.ts';
import type { Selection } from '../store/store.ts';
import type { NoteNode } from './noteNodes.ts';
import type { NodeView } from '../../runs/live/nodeView.ts';

export type CardNode = Node<
  {
    node: WorkflowNode;
    hasSuccessor: boolean;
    isReadOnly: boolean;
    view: ShownView | undefined;
    /** An unfinished run is shown: nodes without a view are waiting. */
    isInRun: boolean;
    problems: readonly Problem[];
    /** Whether test runs use a pinned output instead of executing the node. */
    isPinned: boolean;
    /** Whether runs do not execute it, because it or a group around it is disabled. */
    isDisabled: boolean;
    /** How many nodes are in the frame of a group. */
    bodySize: number;
    /** Nodes that are dragged now would be dropped into the frame. */
    isTarget: boolean;
    /** Whether the Tab key reaches it. From there the arrow keys lead to the others. */
    isTabStop: boolean;
  },
  'card' | 'frame'
>;

type ShownView = Pick<
  NodeView,
  'phase' | 'startTime' | 'completionTime' | 'attempts' | 'message' | 'items' | 'item' | 'waitingFor'
>;

/** `entry`: from a frame to the nodes with which its body begins. It has no data. */
export type WorkflowFlowEdge = Edge<
  {
    edge: WorkflowEdge;
    /** Its label, how many labels are below it at the same end, and how many there are. */
    label: EdgeLabel;
    rank: number;
    labels: number;
    isReadOnly: boolean;
    isTaken: boolean;
    /** Its condition failed in the shown run. */
    hasFailed: boolean;
    problems: readonly Problem[];
  },
  'workflow' | 'entry'
>;

/** The handle of a frame from which its body begins. */
export const BODY_HANDLE = 'body';

/** A node of React Flow: one of the workflow, or a note. */
export type CanvasNode = CardNode | NoteNode;

export type Shown = {
  draft: Draft;
  selection: Selection;
  problems: Problems;
  isReadOnly: boolean;
  /** By node; undefined: no run is shown. */
  views: ReadonlyMap<string, NodeView> | undefined;
  /** Whether the shown run is unfinished, so that nodes without a view are still to come. */
  isUnfinished: boolean;
  collapsed: ReadonlySet<string>;
  /** The frame into which nodes are dragged. */
  target?: string | undefined;
};

/** Edges need nothing of the draft but its spec: a node that is only moved leaves them as they are. */
export type ShownEdges = Omit<Shown, 'draft' | 'isUnfinished' | 'target'> & {
  spec: WorkflowSpec;
  /** The edge whose condition failed in the shown run. */
  failed?: string | undefined;
};

const NONE: readonly Problem[] = [];
const NOWHERE = { x: 0, y: 0, width: 0, height: 0 };
/** Frames are below the edges in them, which are below the nodes. */
const LAYERS = 3;

export function flowNodes(
  { draft, selection, problems, isReadOnly, views, isUnfinished, collapsed, target }: Shown,
  before: readonly CardNode[],
): CardNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const sources = new Set(edgesOf(draft.spec).map(({ from }) => from));
  const selected = new Set(selection.nodes);
  const { nodes } = draft.spec;
  const scopes = scopesOf(nodes);
  const boxes = boxesOf(nodes, draft.positions, collapsed);
  const shown = nodes.filter(({ id }) => !scopes.around(id).some((group) => collapsed.has(group)));
  const tabStop = tabStopOf(shown, selection);
  const disabled = disabledIn(draft.spec);
  return shown.map((node): CardNode => {
    const old = known.get(node.id);
    const isFrame = node.group !== undefined && !collapsed.has(node.id);
    const { x, y, width, height } = boxes.get(node.id) ?? NOWHERE;
    const data: CardNode['data'] = {
      node,
      hasSuccessor: sources.has(node.id),
      isReadOnly,
      view: sameView(old?.data.view, views?.get(node.id)),
      isInRun: isUnfinished,
      problems: problems.nodes.get(node.id) ?? NONE,
      isPinned: pinOf(draft, node.id) !== undefined,
      isDisabled: disabled.has(node.id),
      bodySize: scopes.members(node.id).length,
      isTarget: node.id === target,
      isTabStop: node.id === tabStop,
    };
    const next: CardNode = {
      id: node.id,
      type: isFrame ? 'frame' : 'card',
      position: { x, y },
      data: old && areSame(old.data, data) ? old.data : data,
      selected: selected.has(node.id),
      measured: { width, height },
      zIndex: LAYERS * scopes.around(node.id).length + (isFrame ? 1 : 2),
      // The space in a frame belongs to the canvas: only its header moves it.
      ...(isFrame && { width, height, dragHandle: '[data-frame-head]', style: { pointerEvents: 'none' } }),
    };
    return old !== undefined && areEqualNodes(old, next) ? old : next;
  });
}

/** One node of all: the one that was selected last, else the trigger, else the first. */
function tabStopOf(shown: readonly WorkflowNode[], { nodes: selected }: Selection): string | undefined {
  const last = shown.find(({ id }) => id === selected.at(-1));
  return (last ?? shown.find(isTrigger) ?? shown[0])?.id;
}

function areEqualNodes(old: CardNode, next: CardNode): boolean {
  const shape = ({ type, data, zIndex, selected }: CardNode) => ({ type, data, zIndex, selected });
  return (
    areSame(shape(old), shape(next)) &&
    areSame(old.position, next.position) &&
    areSame(old.measured ?? {}, next.measured ?? {})
  );
}

export function flowEdges(
  { spec, selection, problems, isReadOnly, views, collapsed, failed }: ShownEdges,
  before: readonly WorkflowFlowEdge[],
): WorkflowFlowEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const selected = new Set(selection.edges);
  const scopes = scopesOf(spec.nodes);
  const isHidden = (id: string) => scopes.around(id).some((group) => collapsed.has(group));
  const all = edgesOf(spec);
  const targets = new Set(all.map(({ to }) => to));
  const entries = spec.nodes.flatMap(({ id }): WorkflowFlowEdge[] => {
    const [group] = scopes.around(id);
    if (group === undefined || targets.has(id) || isHidden(id)) return [];
    const entry = `${group}:${id}`;
    const made = { type: 'entry' as const, source: group, sourceHandle: BODY_HANDLE, target: id };
    const zIndex = LAYERS * scopes.around(id).length;
    const old = known.get(entry);
    return [old?.zIndex === zIndex ? old : { id: entry, ...made, zIndex, selectable: false }];
  });
  const drawn = all.filter(({ from, to }) => !isHidden(from) && !isHidden(to));
  const labels = labelsOf(drawn);
  const labelled = Map.groupBy(
    drawn.filter((edge) => labels.get(edgeId(edge))?.full !== ''),
    ({ to }) => to,
  );
  const edges = drawn.map((edge): WorkflowFlowEdge => {
    const id = edgeId(edge);
    const old = known.get(id);
    const zIndex = LAYERS * scopes.around(edge.from).length;
    const atEnd = labelled.get(edge.to) ?? [];
    const made: WorkflowFlowEdge['data'] = {
      edge: sameOr(old?.data?.edge, edge),
      label: sameOr(old?.data?.label, labels.get(id) ?? NO_LABEL),
      rank: Math.max(0, atEnd.indexOf(edge)),
      labels: atEnd.length,
      isReadOnly,
      isTaken: wasTaken(edge, views),
      hasFailed: id === failed,
      problems: problems.edges.get(id) ?? NONE,
    };
    const data = sameOr(old?.data, made);
    const isSelected = selected.has(id);
    if (old && old.data === data && old.selected === isSelected && old.zIndex === zIndex) return old;
    const { from: source, to: target } = edge;
    const ariaLabel = `Connection from ${source} to ${target}${id === failed ? ', failed' : ''}`;
    return { id, type: 'workflow', source, target, selected: isSelected, data, zIndex, ariaLabel };
  });
  return [...edges, ...entries];
}

/** Whether the run took the edge, as far as the phases of its ends show. */
function wasTaken({ from, to, after }: WorkflowEdge, views: Shown['views']): boolean {
  const [source, target] = [views?.get(from), views?.get(to)];
  if (target === undefined || target.phase === 'Pending' || wasSkipped(target)) return false;
  return after === 'Failure' ? source?.phase === 'Failed' : source !== undefined && !wasSkipped(source);
}

/** A disabled node that was reached is skipped too, but its edges are followed. */
function wasSkipped({ phase, reason }: NodeView): boolean {
  return phase === 'Skipped' && reason !== DISABLED;
}

function sameView(old: CardNode['data']['view'], view: NodeView | undefined): CardNode['data']['view'] {
  if (view === undefined) return undefined;
  const { phase, startTime, completionTime, attempts, message, items, item, waitingFor } = view;
  const next = { phase, startTime, completionTime, attempts, message, items, item, waitingFor } as ShownView;
  return old && areSame(old, next) ? old : next;
}

/** The object of before, if it has the same members. */
function sameOr<T extends object>(before: T | undefined, made: T): T {
  return before !== undefined && areSame(before, made) ? before : made;
}

function areSame<T extends object>(one: T, other: T): boolean {
  const keys = Object.keys(one) as (keyof T)[];
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
