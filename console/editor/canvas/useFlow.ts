/** Connects the store with React Flow. */
import type { NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { isTerminal } from '../../../api/phase.ts';
import { moveNodes } from '../model/model.ts';
import type { Position, Positions } from '../model/place.ts';
import { useRunView } from '../../runs/live/runStore.ts';
import { useEditorPart, type EditorStore } from '../store/store.ts';
import { flowEdges, flowNodes, type CardNode, type WorkflowFlowEdge } from './flow.ts';

/** The nodes and edges of the flow. Dragged nodes move here only; the draft changes when they are dropped. */
export function useFlow(store: EditorStore) {
  const draft = useEditorPart((state) => state.draft);
  const selection = useEditorPart((state) => state.selection);
  const problems = useEditorPart((state) => state.problems);
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const { run, nodes: views } = useRunView();
  const isUnfinished = run !== undefined && !isTerminal(run.phase);
  const [drag, setDrag] = useState<Positions>();
  const before = useRef<{ nodes: CardNode[]; edges: WorkflowFlowEdge[] }>({ nodes: [], edges: [] });
  const drawn = useMemo(() => {
    const shown = { draft, selection, problems, isReadOnly, views: run && views, isUnfinished };
    const next = {
      nodes: flowNodes(shown, before.current.nodes),
      edges: flowEdges(shown, before.current.edges),
    };
    before.current = next;
    return next;
  }, [draft, selection, problems, isReadOnly, run, views, isUnfinished]);
  const nodes = useMemo(
    () =>
      drag === undefined
        ? drawn.nodes
        : drawn.nodes.map((node) => {
            const position = drag[node.id];
            return position === undefined ? node : { ...node, position, dragging: true };
          }),
    [drawn.nodes, drag],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange<CardNode>[]) => {
      const moved = changes.flatMap((change) =>
        change.type === 'position' && change.position && change.dragging === true
          ? [[change.id, change.position] as const]
          : [],
      );
      if (moved.length > 0) setDrag((known) => ({ ...known, ...Object.fromEntries(moved) }));
      selectChanged(store, changes);
    },
    [store],
  );
  const onDragStop = useCallback(
    (_event: unknown, _node: unknown, dragged: { id: string; position: Position }[] = []) => {
      setDrag(undefined);
      const moved = dragged.map(({ id, position }) => [
        id,
        { x: Math.round(position.x), y: Math.round(position.y) },
      ]);
      if (moved.length > 0)
        store.apply((before) => moveNodes(before, Object.fromEntries(moved) as Positions));
    },
    [store],
  );
  return { nodes, edges: drawn.edges, onNodesChange, onDragStop };
}

function selectChanged(store: EditorStore, changes: NodeChange<CardNode>[]): void {
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
