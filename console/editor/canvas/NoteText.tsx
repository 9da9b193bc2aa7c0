/** The field in which the text of a note is edited. Each change is in the draft, if it is allowed. */
import { Text } from '@mantine/core';
import { useState } from 'react';
import { NOTE_CHARACTERS, notesProblem, updateNote } from '../model/notes.ts';
import { useEditorStore } from '../store/store.ts';
import classes from './note.module.css';

type Props = { id: string; text: string; onEscape: () => void; onBlur: () => void };

export function NoteText({ id, text, onEscape, onBlur }: Props) {
  const store = useEditorStore();
  const [problem, setProblem] = useState<string>();
  const change = (value: string) => {
    const next = updateNote(store.get().draft, id, { text: value });
    const found = notesProblem(next);
    setProblem(found);
    if (found === undefined) store.apply(() => next, { key: `note ${id} text` });
  };
  const full = `A note can have ${NOTE_CHARACTERS} characters. Add another note for more.`;
  const message = problem ?? (text.length >= NOTE_CHARACTERS ? full : undefined);
  return (
    <>
      <textarea
        ref={focusAtEnd}
        className={`${classes['field']} nodrag nopan nowheel`}
        aria-label="Text of the note, Markdown"
        placeholder="Text, also **bold**, # headings and - lists"
        maxLength={NOTE_CHARACTERS}
        value={text}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        onBlur={onBlur}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onEscape();
        }}
      />
      {message !== undefined && (
        <Text size="xs" role="alert">
          {message}
        </Text>
      )}
    </>
  );
}

function focusAtEnd(field: HTMLTextAreaElement | null): void {
  field?.focus({ preventScroll: true });
  field?.setSelectionRange(field.value.length, field.value.length);
}
