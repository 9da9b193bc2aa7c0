/**
 * The canvas: nodes and connections that can be moved, connected, added and removed by pointer and keyboard.
 */
import '@xyflow/react/dist/base.css';
import { Button, useComputedColorScheme } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import {
  Background,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
  type FinalConnectionState,
  type NodeChange,
} from '@xyflow/react';
import {
  memo,
  useCallback,
  useMemo,
  useRef,
  useState,
  type ComponentProps,
  type MouseEvent as ReactMouseEvent,
  type RefObject,
} from 'react';
import { connectionProblem } from '../model/graph.ts';
import { layoutOf } from '../model/layout.ts';
import { connect } from '../model/model.ts';
import { CARD, type Position } from '../model/place.ts';
import { notifyProblem } from '../../ui/notify.tsx';
import { useEditorPart, useEditorStore, type EditorStore } from '../store/store.ts';
import { useClipboard } from './clipboard.ts';
import { EntryEdge, FlowEdge, HoveredEdge } from './FlowEdge.tsx';
import { FrameCard } from './FrameCard.tsx';
import type { CanvasNode, WorkflowFlowEdge } from './flow.ts';
import { NoteCard } from './NoteCard.tsx';
import { isNoteNode } from './noteNodes.ts';
import { useNotes } from './useNotes.ts';
import { useCanvasKeys } from './keys.ts';
import { NodeCard } from './NodeCard.tsx';
import { NodeMenu, type MenuPlace } from './NodeMenu.tsx';
import { RemoveGroupDialog } from './RemoveGroupDialog.tsx';
import { Tools } from './Tools.tsx';
import { useFlow } from './useFlow.ts';
import {
  afterLayout,
  useCardFocus,
  useShownFailure,
  useShownReplacement,
  useShownSelection,
  useCanvasViewport,
} from './viewport.ts';
import classes from './canvas.module.css';

const nodeTypes = { card: NodeCard, frame: FrameCard, note: NoteCard };
const edgeTypes = { workflow: FlowEdge, entry: EntryEdge };
const typeOf = ({ type }: CanvasNode) => type ?? '';
const ATTRIBUTION = { hideAttribution: true };

/** `isShown`: false beside the YAML, where the canvas stays mounted. */
export function Canvas({ isShown }: { isShown: boolean }) {
  return (
    <ReactFlowProvider>
      <Flow isShown={isShown} />
    </ReactFlowProvider>
  );
}

function Flow({ isShown }: { isShown: boolean }) {
  const store = useEditorStore();
  const canvas = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const { nodes, edges, onNodesChange, onDragStop, addNote } = useNodesAndNotes(canvas, store);
  const view = useCanvasViewport(canvas);
  const tidy = useCallback(() => {
    tidyUp(store);
    afterLayout(view.fit);
  }, [store, view.fit]);
  const commands = useMemo(() => ({ ...view, tidy, addNote }), [view, tidy, addNote]);
  useCanvasKeys(canvas, store, commands);
  useClipboard(canvas, store, view.show);
  useCardFocus(canvas);
  useShownSelection(canvas, view, isShown);
  useShownFailure(view);
  useShownReplacement(view, isShown);
  const hover = useHover();
  const menu = useNodeMenu(store);
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const isEmpty = useEditorPart(({ draft }) => draft.spec.nodes.length === 0);
  const handlers = useHandlers(store);
  return (
    <div ref={canvas} className={classes['canvas']} role="region" aria-label="Canvas" tabIndex={-1}>
      <HoveredEdge value={hover.edge}>
        <ReactFlow<CanvasNode, WorkflowFlowEdge>
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode={scheme}
          onNodesChange={onNodesChange}
          onNodeDragStop={onDragStop}
          onSelectionDragStop={onDragStop}
          {...handlers}
          onNodeContextMenu={menu.open}
          onEdgeMouseEnter={hover.enter}
          onEdgeMouseLeave={hover.leave}
          nodesDraggable={!isReadOnly}
          nodesConnectable={!isReadOnly}
          nodesFocusable={false}
          edgesFocusable={false}
          disableKeyboardA11y
          connectOnClick={false}
          deleteKeyCode={null}
          selectionKeyCode="Shift"
          multiSelectionKeyCode={MULTI}
          selectionMode={SelectionMode.Partial}
          connectionRadius={32}
          nodeDragThreshold={3}
          minZoom={0.1}
          maxZoom={2}
          panOnScroll
          zoomOnDoubleClick={false}
          elevateNodesOnSelect={false}
          proOptions={ATTRIBUTION}
          onInit={view.fitAtStart}
          onMoveStart={view.moved}
        >
          <Overlays view={view} tidy={tidy} addNote={addNote} isShown={isShown} />
        </ReactFlow>
      </HoveredEdge>
      {isEmpty && <FirstNode />}
      {menu.place && <NodeMenu place={menu.place} onClose={menu.close} show={view.show} />}
      <RemoveGroupDialog />
    </div>
  );
}

/** What lies behind and above the nodes. Dragging a node does not redraw it. */
const Overlays = memo(function Overlays(tools: ComponentProps<typeof Tools>) {
  return (
    <>
      <Background gap={20} size={1.5} />
      <MiniMap<CanvasNode>
        pannable
        zoomable
        ariaLabel="Map of the workflow"
        className={classes['map'] ?? ''}
        nodeClassName={typeOf}
        style={MAP}
      />
      <Tools {...tools} />
    </>
  );
});

function useNodesAndNotes(canvas: RefObject<HTMLElement | null>, store: EditorStore) {
  const flow = useFlow(store);
  const notes = useNotes(canvas, store);
  const nodes = useMemo(() => [...notes.nodes, ...flow.nodes], [notes.nodes, flow.nodes]);
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      flow.onNodesChange(changes);
      notes.onChange(changes);
    },
    [flow.onNodesChange, notes.onChange],
  );
  return { ...flow, nodes, onNodesChange, addNote: notes.add };
}

/**
 * Handlers of the pointer. They are stable: new functions would make React Flow redraw every node on each
 * move.
 */
function useHandlers(store: EditorStore) {
  const flow = useReactFlow();
  return useMemo(
    () => ({
      onNodeClick: ({ shiftKey, ctrlKey, metaKey }: MouseKeys, { id }: { id: string }) => {
        if (isNoteNode(id)) store.closePanel();
        else if (!shiftKey && !ctrlKey && !metaKey) store.openNode(id);
      },
      onEdgeClick: (_event: unknown, { type, source, target }: WorkflowFlowEdge) => {
        if (type === 'workflow') store.openEdge({ from: source, to: target });
      },
      onPaneClick: () => {
        store.closePanel();
        store.select({});
      },
      onConnect: ({ source, target }: { source: string; target: string }) =>
        store.apply((draft) => connect(draft, { from: source, to: target })),
      onConnectEnd: (event: MouseEvent | TouchEvent, state: FinalConnectionState) =>
        connectionEnded(store, state, flow.screenToFlowPosition(pointOf(event))),
      isValidConnection: ({ source, target }: { source: string; target: string }) =>
        connectionProblem(store.get().draft.spec, { from: source, to: target }) === undefined,
    }),
    [store, flow],
  );
}

/** The functions are stable, as those of `useHandlers`. */
function useNodeMenu(store: EditorStore) {
  const [place, setPlace] = useState<MenuPlace>();
  const close = useCallback(() => setPlace(undefined), []);
  const open = useCallback(
    (event: ReactMouseEvent, { id }: { id: string }) => {
      if (isNoteNode(id)) return;
      event.preventDefault();
      if (!store.get().selection.nodes.includes(id)) store.select({ nodes: [id] });
      setPlace({ node: id, x: event.clientX, y: event.clientY });
    },
    [store],
  );
  return { place, open, close };
}

type MouseKeys = { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean };

const MULTI = ['Control', 'Meta', 'Shift'];
const MAP = { width: 160, height: 100 };

function tidyUp(store: EditorStore): void {
  store.apply((draft) => ({ ...draft, positions: layoutOf(draft.spec) }));
}

/** A refused connection says why. One that was dropped on empty canvas offers the node to add there. */
function connectionEnded(store: EditorStore, state: FinalConnectionState, at: Position): void {
  if (state.isValid === true || state.fromHandle?.type !== 'source') return;
  if (state.toHandle?.type === 'target') {
    const ends = { from: state.fromHandle.nodeId, to: state.toHandle.nodeId };
    const problem = connectionProblem(store.get().draft.spec, ends);
    if (problem !== undefined) notifyProblem('Not connected', problem);
    return;
  }
  if (state.toNode !== null && state.toNode.type === 'card') return;
  const position = { x: Math.round(at.x), y: Math.round(at.y - CARD.height / 2) };
  store.pick({ kind: 'after', node: state.fromHandle.nodeId, position });
}

function pointOf(event: MouseEvent | TouchEvent): Position {
  const point = 'changedTouches' in event ? event.changedTouches[0] : event;
  return { x: point?.clientX ?? 0, y: point?.clientY ?? 0 };
}

/** Long enough to move the pointer from the edge to its buttons. */
const HOVER_MS = 350;

/** The edge under the pointer, for a moment longer than it is there. */
function useHover() {
  const [edge, setEdge] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const enter = useCallback((_event: unknown, { id }: { id: string }) => {
    clearTimeout(timer.current);
    setEdge(id);
  }, []);
  const leave = useCallback(() => {
    timer.current = setTimeout(() => setEdge(undefined), HOVER_MS);
  }, []);
  return { edge, enter, leave };
}

function FirstNode() {
  const store = useEditorStore();
  return (
    <div className={classes['start']}>
      <Button size="md" leftSection={<IconPlus size={18} />} onClick={() => store.pick({ kind: 'trigger' })}>
        Choose a trigger
      </Button>
    </div>
  );
}
