/** Connects the notes of the draft with React Flow. Moved and resized notes change the draft at the end. */
import { useReactFlow, type NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState, type RefObject } from 'react';
import { newNote, notesProblem, updateNote, withNote } from '../model/notes.ts';
import type { Box, Position } from '../model/place.ts';
import { notifyProblem } from '../../ui/notify.tsx';
import { useEditorPart, type EditorStore } from '../store/store.ts';
import type { CanvasNode } from './flow.ts';
import { isNoteNode, noteIdOf, noteNodes } from './noteNodes.ts';

type Changing = Record<string, Partial<Box>>;

const NONE = {};
/** The corner of a new note, from that of the canvas, with room for its buttons above it. */
const CORNER = { x: 24, y: 56 };
/** New notes do not cover each other whole. */
const SHIFT = { each: 28, most: 8 };

export function useNotes(canvas: RefObject<HTMLElement | null>, store: EditorStore) {
  const notes = useEditorPart(({ draft }) => draft.notes) ?? NONE;
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const [editing, setEditing] = useState<string>();
  const flow = useReactFlow();
  const { changing, onChange } = useChanging(store);
  const onEdit = useCallback(
    (id: string, isEditing: boolean) => setEditing((now) => (isEditing ? id : now === id ? undefined : now)),
    [],
  );
  const nodes = useMemo(
    () => noteNodes({ notes, changing, editing, isReadOnly, onEdit }),
    [notes, changing, editing, isReadOnly, onEdit],
  );
  const add = useCallback(() => {
    const { left = 0, top = 0 } = canvas.current?.getBoundingClientRect() ?? {};
    const at = flow.screenToFlowPosition({ x: left + CORNER.x, y: top + CORNER.y });
    const id = addNote(store, at);
    if (id !== undefined) setEditing(id);
  }, [canvas, flow, store]);
  return { nodes, onChange, add };
}

/** Adds a note about here, and returns its ID. If the draft has too many, it says so. */
function addNote(store: EditorStore, { x, y }: Position): string | undefined {
  const { draft, isReadOnly } = store.get();
  if (isReadOnly) return undefined;
  const shift = (Object.keys(draft.notes ?? {}).length % SHIFT.most) * SHIFT.each;
  // Notes that two people add at the same time need different IDs.
  const id = crypto.randomUUID().slice(0, 8);
  const next = withNote(draft, id, newNote({ x: x + shift, y: y + shift }));
  const problem = notesProblem(next);
  if (problem !== undefined) {
    notifyProblem('No note added', problem);
    return undefined;
  }
  // The focus follows the selection, and belongs to the note.
  store.select({});
  store.apply(() => next);
  return id;
}

function useChanging(store: EditorStore) {
  const [changing, setChanging] = useState<Changing>(NONE);
  const latest = useRef<Changing>(NONE);
  const onChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      for (const change of changes) {
        const found = boxChange(change);
        if (found === undefined) continue;
        const { [found.id]: before, ...others } = latest.current;
        const box = { ...before, ...found.box };
        if (found.isLast) store.apply((draft) => updateNote(draft, found.id, box));
        latest.current = found.isLast ? others : { ...others, [found.id]: box };
        setChanging(latest.current);
      }
    },
    [store],
  );
  return { changing, onChange };
}

type BoxChange = { id: string; box: Partial<Box>; isLast: boolean };

/** What a change of React Flow makes of a note; undefined if the user neither moves nor resizes one. */
function boxChange(change: NodeChange<CanvasNode>): BoxChange | undefined {
  if (!('id' in change) || !isNoteNode(change.id)) return undefined;
  const id = noteIdOf(change.id);
  if (change.type === 'position' && change.position)
    return { id, box: change.position, isLast: change.dragging === false };
  if (change.type === 'dimensions' && change.resizing !== undefined)
    return { id, box: change.dimensions ?? {}, isLast: !change.resizing };
  return undefined;
}
