/**
 * The draft as nodes and edges of React Flow. Unchanged elements keep their objects, so that they are not
 * redrawn. Pure.
 */
import type { Edge, Node } from '@xyflow/react';
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import { edgeId, edgesOf } from '../model/graph.ts';
import type { Draft } from '../model/model.ts';
import { CARD } from '../model/place.ts';
import type { Problem, Problems } from '../model/problems.ts';
import type { Selection } from '../store/store.ts';
import type { NodeView } from '../../runs/live/runState.ts';

export type CardNode = Node<
  {
    node: WorkflowNode;
    hasSuccessor: boolean;
    isReadOnly: boolean;
    view: Pick<NodeView, 'phase' | 'startTime' | 'completionTime' | 'attempts' | 'message'> | undefined;
    /** An unfinished run is shown: nodes without a view are waiting. */
    isInRun: boolean;
    problems: readonly Problem[];
  },
  'card'
>;

export type WorkflowFlowEdge = Edge<
  { edge: WorkflowEdge; isReadOnly: boolean; isTaken: boolean; problems: readonly Problem[] },
  'workflow'
>;

export type Shown = {
  draft: Draft;
  selection: Selection;
  problems: Problems;
  isReadOnly: boolean;
  /** By node; undefined: no run is shown. */
  views: ReadonlyMap<string, NodeView> | undefined;
  /** Whether the shown run is unfinished, so that nodes without a view are still to come. */
  isUnfinished: boolean;
};

const NONE: readonly Problem[] = [];
const measured = { width: CARD.width, height: CARD.height };

export function flowNodes(
  { draft, selection, problems, isReadOnly, views, isUnfinished }: Shown,
  before: readonly CardNode[],
): CardNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const sources = new Set(edgesOf(draft.spec).map(({ from }) => from));
  const selected = new Set(selection.nodes);
  return draft.spec.nodes.map((node): CardNode => {
    const old = known.get(node.id);
    const data: CardNode['data'] = {
      node,
      hasSuccessor: sources.has(node.id),
      isReadOnly,
      view: sameView(old?.data.view, views?.get(node.id)),
      isInRun: isUnfinished,
      problems: problems.nodes.get(node.id) ?? NONE,
    };
    const next: CardNode = {
      id: node.id,
      type: 'card',
      position: draft.positions[node.id] ?? { x: 0, y: 0 },
      data: old && areSame(old.data, data) ? old.data : data,
      selected: selected.has(node.id),
      measured,
    };
    const isSame =
      old !== undefined &&
      old.data === next.data &&
      old.selected === next.selected &&
      old.position.x === next.position.x &&
      old.position.y === next.position.y;
    return isSame ? old : next;
  });
}

export function flowEdges(
  { draft, selection, problems, isReadOnly, views }: Shown,
  before: readonly WorkflowFlowEdge[],
): WorkflowFlowEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const selected = new Set(selection.edges);
  return edgesOf(draft.spec).map((edge): WorkflowFlowEdge => {
    const id = edgeId(edge);
    const old = known.get(id);
    const made: WorkflowFlowEdge['data'] = {
      edge: old?.data && areSame(old.data.edge, edge) ? old.data.edge : edge,
      isReadOnly,
      isTaken: wasTaken(edge, views),
      problems: problems.edges.get(id) ?? NONE,
    };
    const data = old?.data && areSame(old.data, made) ? old.data : made;
    if (old && old.data === data && old.selected === selected.has(id)) return old;
    return { id, type: 'workflow', source: edge.from, target: edge.to, selected: selected.has(id), data };
  });
}

/** Whether the run took the edge, as far as the phases of its ends show. */
function wasTaken({ from, to, after }: WorkflowEdge, views: Shown['views']): boolean {
  const [source, target] = [views?.get(from)?.phase, views?.get(to)?.phase];
  if (target === undefined || target === 'Skipped' || target === 'Pending') return false;
  return after === 'Failure' ? source === 'Failed' : source !== undefined && source !== 'Skipped';
}

function sameView(old: CardNode['data']['view'], view: NodeView | undefined): CardNode['data']['view'] {
  if (view === undefined) return undefined;
  const { phase, startTime, completionTime, attempts, message } = view;
  const next = { phase, startTime, completionTime, attempts, message } as CardNode['data']['view'];
  return old && next && areSame(old, next) ? old : next;
}

function areSame<T extends object>(one: T, other: T): boolean {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof T>;
  return [...keys].every((key) => one[key] === other[key]);
}
