/** The notes of a draft as nodes of React Flow. Pure. */
import type { Node } from '@xyflow/react';
import type { Note, Notes } from '../model/notes.ts';
import type { Box } from '../model/place.ts';

export type NoteNode = Node<
  {
    id: string;
    note: Note;
    isReadOnly: boolean;
    isEditing: boolean;
    /** Begins or ends editing the text. */
    onEdit: (isEditing: boolean) => void;
  },
  'note'
>;

/** No ID of a node has a colon. */
const PREFIX = 'note:';
/** Below the frames, edges and nodes. */
const LAYER = -1;

export function isNoteNode(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The ID of the note that a node of React Flow shows. */
export function noteIdOf(id: string): string {
  return id.slice(PREFIX.length);
}

export type ShownNotes = {
  notes: Notes;
  /** The boxes of notes that are moved or resized now. */
  changing: Readonly<Record<string, Partial<Box>>>;
  editing: string | undefined;
  isReadOnly: boolean;
  onEdit: (id: string, isEditing: boolean) => void;
};

export function noteNodes({ notes, changing, editing, isReadOnly, onEdit }: ShownNotes): NoteNode[] {
  return Object.entries(notes).map(([id, note]) => {
    const { x, y, width, height } = { ...note, ...changing[id] };
    const isEditing = !isReadOnly && id === editing;
    return {
      id: `${PREFIX}${id}`,
      type: 'note',
      position: { x, y },
      width,
      height,
      measured: { width, height },
      zIndex: LAYER,
      selectable: false,
      connectable: false,
      draggable: !isReadOnly && !isEditing,
      data: { id, note, isReadOnly, isEditing, onEdit: (begins) => onEdit(id, begins) },
    };
  });
}
