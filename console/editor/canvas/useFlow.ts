/** Connects the store with React Flow. */
import type { NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { isTerminal } from '../../../api/phase.ts';
import { RUN_SCOPE } from '../../../api/scopes.ts';
import { failedEdge } from '../../runs/live/result.ts';
import { edgeId } from '../model/graph.ts';
import type { Positions } from '../model/place.ts';
import { moveToGroups } from '../store/commands.ts';
import { groupsOf, hoveredGroup, placesOf, type Dragged } from './drag.ts';
import { useRunView } from '../../runs/live/runStore.ts';
import { useEditorPart, type EditorStore } from '../store/store.ts';
import { flowEdges, flowNodes, type CanvasNode, type CardNode, type WorkflowFlowEdge } from './flow.ts';
import { isNoteNode } from './noteNodes.ts';

/** The nodes and edges of the flow. Dragged nodes move here only; the draft changes when they are dropped. */
export function useFlow(store: EditorStore) {
  const draft = useEditorPart((state) => state.draft);
  const selection = useEditorPart((state) => state.selection);
  const problems = useEditorPart((state) => state.problems);
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const collapsed = useEditorPart((state) => state.collapsed);
  const { run, nodes: views } = useRunView();
  const isUnfinished = run !== undefined && !isTerminal(run.phase);
  const failedEnds = run && failedEdge(run, views);
  const failed = failedEnds && edgeId(failedEnds);
  const [drag, setDrag] = useState<Positions>();
  const [target, setTarget] = useState<string>();
  const shownViews = run && views;
  const knownNodes = useRef<CardNode[]>([]);
  const atRest = useMemo(() => {
    const shown = {
      draft,
      selection,
      problems,
      isReadOnly,
      views: shownViews,
      isUnfinished,
      collapsed,
      target,
    };
    knownNodes.current = flowNodes(shown, knownNodes.current);
    return knownNodes.current;
  }, [draft, selection, problems, isReadOnly, shownViews, isUnfinished, collapsed, target]);
  const { spec } = draft;
  const knownEdges = useRef<WorkflowFlowEdge[]>([]);
  const edges = useMemo(() => {
    const shown = { spec, selection, problems, isReadOnly, views: shownViews, collapsed, failed };
    knownEdges.current = flowEdges(shown, knownEdges.current);
    return knownEdges.current;
  }, [spec, selection, problems, isReadOnly, shownViews, collapsed, failed]);
  const nodes = useMemo(
    () =>
      drag === undefined
        ? atRest
        : atRest.map((node) => {
            const position = Object.hasOwn(drag, node.id) ? drag[node.id] : undefined;
            return position === undefined
              ? node
              : { ...node, position, dragging: true, zIndex: DRAGGED + (node.zIndex ?? 0) };
          }),
    [atRest, drag],
  );
  const onNodesChange = useCallback(
    (all: NodeChange<CanvasNode>[]) => {
      const changes = all.filter((change) => !('id' in change && isNoteNode(change.id)));
      const moved = changes.flatMap((change) =>
        change.type === 'position' && change.position && change.dragging === true
          ? [{ id: change.id, position: change.position }]
          : [],
      );
      if (moved.length > 0) {
        const state = store.get();
        setDrag((known) => ({ ...known, ...placesOf(state, moved) }));
        setTarget(hoveredGroup(state, moved));
      }
      selectChanged(store, changes);
    },
    [store],
  );
  const onDragStop = useCallback(
    (_event: unknown, _node: unknown, all: Dragged[] = []) => {
      const dragged = all.filter(({ id }) => !isNoteNode(id));
      setDrag(undefined);
      setTarget(undefined);
      if (dragged.length === 0) return;
      const state = store.get();
      const targets = groupsOf(state, dragged).map(({ id, group }) => [id, group ?? RUN_SCOPE] as const);
      moveToGroups(store, new Map(targets), placesOf(state, dragged));
    },
    [store],
  );
  return { nodes, edges, onNodesChange, onDragStop };
}

/** Dragged nodes are above all others. */
const DRAGGED = 100;

function selectChanged(store: EditorStore, changes: NodeChange<CanvasNode>[]): void {
  const picked = changes.filter((change) => change.type === 'select');
  if (picked.length === 0) return;
  const { selection } = store.get();
  const nodes = new Set(selection.nodes);
  for (const { id, selected } of picked) {
    if (selected) nodes.add(id);
    else nodes.delete(id);
  }
  const isSame = nodes.size === selection.nodes.length && selection.nodes.every((id) => nodes.has(id));
  if (!isSame) store.select({ nodes: [...nodes] });
}
