/** A note on the canvas: Markdown that is edited in place. Its keys act while it has the focus. */
import { ActionIcon, ColorSwatch, Text, Tooltip } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { NodeResizer, useStore, type NodeProps } from '@xyflow/react';
import {
  memo,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react';
import { Markdown } from '../../ui/Markdown.tsx';
import { visibleText } from '../../ui/visibleText.ts';
import { NOTE_COLORS, NOTE_SIZE, updateNote, withoutNote, type Note } from '../model/notes.ts';
import { useEditorStore } from '../store/store.ts';
import type { NoteNode } from './noteNodes.ts';
import { NoteText } from './NoteText.tsx';
import classes from './note.module.css';

export const NoteCard = memo(function NoteCard({ data }: NodeProps<NoteNode>) {
  const { id, note, isReadOnly, isEditing, onEdit } = data;
  const store = useEditorStore();
  const text = useRef<HTMLDivElement>(null);
  const [isActive, setActive] = useState(false);
  const hasTools = isActive && !isReadOnly;
  const remove = () => {
    text.current?.closest<HTMLElement>('[role="region"]')?.focus({ preventScroll: true });
    store.apply((draft) => withoutNote(draft, id));
  };
  const endEditing = () => {
    text.current?.focus({ preventScroll: true });
    onEdit(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Tab moves the focus here; elsewhere on the canvas it adds a node.
    if (event.key === 'Tab') event.stopPropagation();
    if (isReadOnly || event.target !== text.current || event.ctrlKey || event.metaKey) return;
    const change = boxChange(event, note);
    if (event.key === 'Enter') onEdit(true);
    else if (event.key === 'Delete' || event.key === 'Backspace') remove();
    else if (change) store.apply((draft) => updateNote(draft, id, change), { key: `note ${id} box` });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      className={classes['note']}
      data-color={note.color}
      data-active={isActive || undefined}
      onFocus={() => {
        setActive(true);
        const { nodes, edges } = store.get().selection;
        if (nodes.length + edges.length > 0) store.select({});
      }}
      onBlur={({ currentTarget, relatedTarget }: FocusEvent) => {
        if (!currentTarget.contains(relatedTarget)) setActive(false);
      }}
      // The buttons and handles leave the focus where it is.
      onMouseDownCapture={(event: MouseEvent) => {
        if (text.current?.contains(event.target as Element) === false) event.preventDefault();
      }}
    >
      <NodeResizer
        isVisible={hasTools}
        color="var(--mantine-primary-color-filled)"
        minWidth={NOTE_SIZE.least}
        minHeight={NOTE_SIZE.least}
        maxWidth={NOTE_SIZE.most}
        maxHeight={NOTE_SIZE.most}
      />
      <div
        ref={text}
        role="note"
        tabIndex={0}
        aria-label={labelOf(note)}
        className={`${classes['text']} ${isActive ? 'nowheel' : ''}`}
        onKeyDown={onKeyDown}
        onDoubleClick={() => {
          if (!isReadOnly) onEdit(true);
        }}
      >
        {isEditing ? (
          <NoteText id={id} text={note.text} onEscape={endEditing} onBlur={() => onEdit(false)} />
        ) : (
          <Shown text={note.text} empty={isReadOnly ? 'Empty note' : <HowToWrite />} />
        )}
      </div>
      {hasTools && (
        <NoteTools
          color={note.color}
          onColor={(color) => store.apply((draft) => updateNote(draft, id, { color }))}
          onEdit={() => onEdit(true)}
          onRemove={remove}
        />
      )}
    </div>
  );
});

function HowToWrite() {
  return (
    <>
      <span data-no-touch>Double-click to write</span>
      <span data-touch>To write, tap the note and then its pencil</span>
    </>
  );
}

function Shown({ text, empty }: { text: string; empty: ReactNode }) {
  if (text.trim() !== '') return <Markdown text={text} />;
  return (
    <Text size="sm" className={classes['empty'] ?? ''}>
      {empty}
    </Text>
  );
}

const LABEL_CHARACTERS = 60;

/** The first line, without marks. */
function labelOf({ text }: Note): string {
  const [first = ''] = text
    .replace(/[#*`>]/g, '')
    .trim()
    .split('\n');
  return first === '' ? 'Empty note' : `Note: ${visibleText(first.slice(0, LABEL_CHARACTERS))}`;
}

/** The distance that an arrow key moves a note: that of the dots. */
const STEP = 20;
const ARROWS: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

/** Arrow keys move a note, or with Shift change its size. */
function boxChange({ key, shiftKey }: KeyboardEvent, note: Note): Partial<Note> | undefined {
  const [x, y] = ARROWS[key] ?? [];
  if (x === undefined || y === undefined) return undefined;
  return shiftKey ? { width: note.width + x, height: note.height + y } : { x: note.x + x, y: note.y + y };
}

type ToolsProps = {
  color: Note['color'];
  onColor: (color: Note['color']) => void;
  onEdit: () => void;
  onRemove: () => void;
};

function NoteTools({ color, onColor, onEdit, onRemove }: ToolsProps) {
  // Where the canvas is zoomed out, they keep the size of other buttons.
  const scale = useStore(({ transform: [, , zoom] }) => Math.max(1, 1 / zoom));
  return (
    <div
      role="toolbar"
      aria-label="Note"
      className={`${classes['tools']} nodrag nopan`}
      style={{ transform: `scale(${scale})` }}
    >
      {NOTE_COLORS.map((each) => (
        <ColorSwatch
          key={each}
          component="button"
          size={24}
          color={`var(--mantine-color-${each}-5)`}
          className={classes['swatch'] ?? ''}
          aria-label={`Make it ${each}`}
          aria-pressed={each === color}
          onClick={() => onColor(each)}
        />
      ))}
      <NoteTool label="Edit the note" icon={IconPencil} onClick={onEdit} />
      <NoteTool label="Delete the note" icon={IconTrash} onClick={onRemove} />
    </div>
  );
}

type ToolProps = { label: string; icon: typeof IconTrash; onClick: () => void };

function NoteTool({ label, icon: Icon, onClick }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon size={26} variant="default" aria-label={label} onClick={onClick}>
        <Icon size={15} />
      </ActionIcon>
    </Tooltip>
  );
}
