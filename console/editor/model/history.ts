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

/**
 * The history with a change that nobody made here, so that undo and redo do not take it back: in what is, and by `change` in what was and
 * what was undone. A step in which it has no place is forgotten, and so are those beyond it.
 */
export function carried<T>(
  { past, future }: History<T>,
  present: T,
  change: (value: T) => T | undefined,
): History<T> {
  return {
    past: untilUndefined(past.toReversed(), change).toReversed(),
    present,
    future: untilUndefined(future, change),
  };
}

function untilUndefined<T>(values: readonly T[], change: (value: T) => T | undefined): T[] {
  const changed: T[] = [];
  for (const value of values) {
    const next = change(value);
    if (next === undefined) break;
    changed.push(next);
  }
  return changed;
}
