/** Undo and redo: what was, what is, and what was undone. Pure. */

export type History<T> = {
  readonly past: readonly T[];
  readonly present: T;
  readonly future: readonly T[];
  /** What the last change was about, and when: the next one of the same kind, soon after, is part of it. */
  readonly last?: { key: string; at: number };
};

/** Changes of one field within this time are one step: a word, not a letter. */
const MERGE_MS = 1_000;
const MOST = 200;

/** A history in which nothing has happened. */
export function historyOf<T>(present: T): History<T> {
  return { past: [], present, future: [] };
}

/** The history after a change. With a `key`, one that follows within a second on one of the same key is merged with it. */
export function recorded<T>(
  history: History<T>,
  present: T,
  change: { key?: string; at: number },
): History<T> {
  if (present === history.present) return history;
  const { key, at } = change;
  const last = key === undefined ? undefined : { key, at };
  const isSame = last !== undefined && history.last?.key === key && at - (history.last?.at ?? 0) < MERGE_MS;
  const past = isSame ? history.past : [...history.past, history.present].slice(-MOST);
  return { past, present, future: [], ...(last && { last }) };
}

/** One step back; undefined where there is none. */
export function undone<T>({ past, present, future }: History<T>): History<T> | undefined {
  const before = past.at(-1);
  if (before === undefined) return undefined;
  return { past: past.slice(0, -1), present: before, future: [present, ...future] };
}

/** One step forward again; undefined where there is none. */
export function redone<T>({ past, present, future }: History<T>): History<T> | undefined {
  const [next, ...rest] = future;
  if (next === undefined) return undefined;
  return { past: [...past, present], present: next, future: rest };
}

/** The history with this change in all that was, is, and was undone: what nobody did here cannot be undone here. */
export function everywhere<T>({ past, present, future }: History<T>, change: (value: T) => T): History<T> {
  return { past: past.map(change), present: change(present), future: future.map(change) };
}
