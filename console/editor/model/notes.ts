/** Notes on the canvas: texts beside the nodes. No run reads them. Pure. */
import { isRecord } from '../../../api/record.ts';
import { isEqual } from '../../kube/patch.ts';
import { GAP, type Box, type Position } from './place.ts';

export const NOTE_COLORS = ['yellow', 'blue', 'green', 'pink'] as const;
type NoteColor = (typeof NOTE_COLORS)[number];

/** `text`: Markdown of at most `NOTE_CHARACTERS` characters. */
export type Note = Box & { readonly color: NoteColor; readonly text: string };
export type Notes = Readonly<Record<string, Note>>;
type Noted = { readonly notes?: Notes };

export const MOST_NOTES = 50;
export const NOTE_CHARACTERS = 2_000;
const NOTES_BYTES = 64 * 1024;
export const NOTE_SIZE = { least: 80, most: 4_000, width: 240, height: 160 } as const;

/** An ID has no characters that another part of the editor gives a meaning. */
const ID = /^[a-z0-9]{1,24}$/;

export function noteOf({ notes = {} }: Noted, id: string): Note | undefined {
  return Object.hasOwn(notes, id) ? notes[id] : undefined;
}

/** An empty note with its upper left corner here. */
export function newNote({ x, y }: Position): Note {
  const { width, height } = NOTE_SIZE;
  return { x, y, width, height, color: NOTE_COLORS[0], text: '' };
}

export function withNote<T extends Noted>(draft: T, id: string, note: Note): T {
  return { ...draft, notes: { ...draft.notes, [id]: rounded(note) } };
}

/** Changes a note. Returns the same draft if it has no such note, or if nothing changes. */
export function updateNote<T extends Noted>(draft: T, id: string, change: Partial<Note>): T {
  const note = noteOf(draft, id);
  if (note === undefined) return draft;
  const next = rounded({ ...note, ...change });
  return isEqual(note, next) ? draft : withNote(draft, id, next);
}

export function withoutNote<T extends Noted>(draft: T, id: string): T {
  const { [id]: gone, ...others } = draft.notes ?? {};
  return gone === undefined ? draft : withNotes(draft, others);
}

/** The draft with these notes alone. Without any it has no member for them. */
export function withNotes<T extends Noted>(draft: T, notes: Notes | undefined): T {
  const { notes: _before, ...rest } = draft;
  const kept = notes !== undefined && Object.keys(notes).length > 0 && { notes };
  return { ...rest, ...kept } as T;
}

function rounded(note: Note): Note {
  const size = (value: number) => Math.min(NOTE_SIZE.most, Math.max(NOTE_SIZE.least, Math.round(value)));
  const { x, y, width, height } = note;
  return { ...note, x: Math.round(x), y: Math.round(y), width: size(width), height: size(height) };
}

/** Why a draft cannot have these notes; undefined if it can. */
export function notesProblem({ notes = {} }: Noted): string | undefined {
  const all = Object.values(notes);
  if (all.length > MOST_NOTES)
    return `A workflow can have ${MOST_NOTES} notes. Delete one, or write into an existing one.`;
  const longest = Math.max(0, ...all.map(({ text }) => text.length));
  if (longest > NOTE_CHARACTERS)
    return `A note can have ${NOTE_CHARACTERS} characters, and this text has ${longest}. Shorten it, or add another note.`;
  const bytes = new TextEncoder().encode(notesText({ notes }) ?? '').length;
  if (bytes <= NOTES_BYTES) return undefined;
  const [limit, found] = [NOTES_BYTES, bytes].map((size) => Math.ceil(size / 1024));
  return `The notes of a workflow can have ${limit} KiB together, and these have ${found} KiB. Shorten or delete some.`;
}

/** The notes as the text of the annotation; undefined without notes. */
export function notesText({ notes = {} }: Noted): string | undefined {
  const sorted = Object.entries(notes).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.length === 0 ? undefined : JSON.stringify(Object.fromEntries(sorted));
}

/** The notes in the annotation; undefined if it has none that are valid. */
export function notesIn(text: string | undefined): Notes | undefined {
  try {
    return text === undefined ? undefined : readNotes(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Notes that were stored. Invalid entries are ignored. */
export function readNotes(value: unknown): Notes | undefined {
  if (!isRecord(value)) return undefined;
  const read = Object.entries(value).flatMap(([id, entry]) => {
    const note = ID.test(id) ? readNote(entry) : undefined;
    return note === undefined ? [] : [[id, note] as const];
  });
  return read.length === 0 ? undefined : Object.fromEntries(read);
}

function readNote(value: unknown): Note | undefined {
  if (!isRecord(value)) return undefined;
  const { x, y, width, height, color, text } = value;
  if (![x, y].every(isCoordinate) || ![width, height].every(isLength)) return undefined;
  if (typeof text !== 'string' || text.length > NOTE_CHARACTERS) return undefined;
  const known = NOTE_COLORS.find((each) => each === color);
  if (known === undefined) return undefined;
  return { ...({ x, y, width, height } as Box), color: known, text };
}

function isCoordinate(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) < 1_000_000;
}

function isLength(value: unknown): boolean {
  return typeof value === 'number' && value >= NOTE_SIZE.least && value <= NOTE_SIZE.most;
}

/**
 * The notes after both changes. A note that one changed and the other deleted stays. Of a note that both
 * wrote, theirs stays and mine becomes another note below it; of one that both moved, theirs counts.
 */
export function mergeNotes(base: Noted, mine: Noted, theirs: Noted): Notes | undefined {
  const taken = new Set([...Object.keys(theirs.notes ?? {}), ...Object.keys(mine.notes ?? {})]);
  const merged = [...taken].flatMap((id): [string, Note][] => {
    const [before, my, their] = [base, mine, theirs].map((draft) => noteOf(draft, id));
    const [note, copy] = mergedNote(before, my, their);
    return [
      ...(note ? [[id, note] as [string, Note]] : []),
      ...(copy ? [[freeCopy(id, taken), copy] as [string, Note]] : []),
    ];
  });
  return merged.length === 0 ? undefined : Object.fromEntries(merged);
}

type Maybe = Note | undefined;

/** The note after both changes, and mine as another note if both wrote different texts. */
function mergedNote(before: Maybe, my: Maybe, their: Maybe): [note?: Maybe, copy?: Maybe] {
  if (isEqual(before, their)) return [my];
  if (isEqual(before, my) || my === undefined) return [their];
  if (their === undefined) return [my];
  if (my.text === their.text || my.text === before?.text) return [their];
  if (their.text === before?.text) return [{ ...their, text: my.text }];
  return [their, { ...my, x: their.x, y: their.y + their.height + GAP.y }];
}

/** Depends on the note alone, so that each step of the history gets the same copy. */
function freeCopy(id: string, taken: ReadonlySet<string>): string {
  const copy = `${id.slice(0, 20)}c`;
  return taken.has(copy) ? freeCopy(copy, taken) : copy;
}
