/**
 * The canvas: nodes and connections that can be moved, connected, added and removed by pointer and keyboard.
 */
import '@xyflow/react/dist/base.css';
import { Button, Kbd, Modal, Table, useComputedColorScheme } from '@mantine/core';
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
import { useCallback, useMemo, useRef, useState } from 'react';
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
import { RemoveGroupDialog } from './RemoveGroupDialog.tsx';
import { Tools } from './Tools.tsx';
import { useFlow } from './useFlow.ts';
import { afterLayout, useCardFocus, useShownSelection, useView } from './view.ts';
import classes from './canvas.module.css';

const nodeTypes = { card: NodeCard, frame: FrameCard, note: NoteCard };
const edgeTypes = { workflow: FlowEdge, entry: EntryEdge };
const typeOf = ({ type }: CanvasNode) => type ?? '';
const ATTRIBUTION = { hideAttribution: true };

export function Canvas() {
  return (
    <ReactFlowProvider>
      <Flow />
    </ReactFlowProvider>
  );
}

function Flow() {
  const store = useEditorStore();
  const canvas = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { nodes, edges, onNodesChange, onDragStop } = useFlow(store);
  const notes = useNotes(canvas, store);
  const all = useMemo(() => [...notes.nodes, ...nodes], [notes.nodes, nodes]);
  const view = useView(canvas);
  const tidy = useCallback(() => {
    tidyUp(store);
    afterLayout(view.fit);
  }, [store, view.fit]);
  const { add: addNote, onChange: onNotesChange } = notes;
  const commands = useMemo(
    () => ({ ...view, tidy, addNote, help: () => setHelpOpen(true) }),
    [view, tidy, addNote],
  );
  const onChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      onNodesChange(changes);
      onNotesChange(changes);
    },
    [onNodesChange, onNotesChange],
  );
  useCanvasKeys(canvas, store, commands);
  useClipboard(canvas, store, view.show);
  useCardFocus(canvas);
  useShownSelection(canvas, view);
  const hover = useHover();
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const handlers = useHandlers(store);
  return (
    <div ref={canvas} className={classes['canvas']} role="region" aria-label="Canvas" tabIndex={-1}>
      <HoveredEdge value={hover.edge}>
        <ReactFlow<CanvasNode, WorkflowFlowEdge>
          nodes={all}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode={scheme}
          onNodesChange={onChange}
          onNodeDragStop={onDragStop}
          onSelectionDragStop={onDragStop}
          {...handlers}
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
          <Background gap={20} size={1.5} />
          <MiniMap<CanvasNode>
            pannable
            zoomable
            ariaLabel="Map of the workflow"
            className={classes['map'] ?? ''}
            nodeClassName={typeOf}
            style={MAP}
          />
          <Tools view={view} tidy={tidy} addNote={addNote} onHelp={() => setHelpOpen(true)} />
        </ReactFlow>
      </HoveredEdge>
      {nodes.length === 0 && <FirstNode />}
      <RemoveGroupDialog />
      <HelpDialog opened={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
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

/** The keyboard shortcuts of the editor. */
const KEYS: [string[], string][] = [
  [['←', '→', '↑', '↓'], 'Move from node to node along the connections'],
  [['Shift ←', 'Shift →'], 'Select more nodes along the connections'],
  [['Enter', 'Space'], 'Open the selected node or connection'],
  [['Tab', '+'], 'Add a node after the selected node or on the selected connection'],
  [['Shift N'], 'Add a note'],
  [['Enter', 'Esc'], 'Edit the focused note; end editing'],
  [['Arrow keys', 'Shift ↓ →'], 'Move the focused note; change its size'],
  [['Del', 'Backspace'], 'Remove the selection or the focused note'],
  [['Ctrl C', 'Ctrl X', 'Ctrl V'], 'Copy, cut and paste nodes as YAML, also between workflows'],
  [['Ctrl D'], 'Duplicate'],
  [['Ctrl A'], 'Select all'],
  [['Shift', 'Ctrl'], 'Hold to select several by clicking; Shift also by dragging a frame'],
  [['Ctrl Z'], 'Undo'],
  [['Ctrl Shift Z', 'Ctrl Y'], 'Redo'],
  [['Ctrl S'], 'Save the draft'],
  [['Ctrl Enter'], 'Start a test run'],
  [['Ctrl K'], 'Search workflows, runs, nodes, credentials and actions'],
  [['1'], 'Fit the workflow'],
  [['Shift T'], 'Tidy up'],
  [['Esc'], 'Close the panel, then clear the selection, so that Tab leaves the canvas'],
  [['Esc', 'Tab'], 'One after the other in a code field: leave it'],
  [['?'], 'Show keyboard shortcuts'],
];

function HelpDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td w={230}>
                {keys.map((key) => (
                  <Kbd key={key} mr={6}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
