/** Undo and redo. Pure. */

export type History<T> = {
  readonly past: readonly T[];
  readonly present: T;
  readonly future: readonly T[];
  /**
   * The field and time of the last change: a soon following change of the same field belongs to the same
   * step.
   */
  readonly last?: { key: string; at: number };
};

/** Changes of one field within this time are one step: a word, not a letter. */
const MERGE_MS = 1_000;
const MOST = 200;

export function historyOf<T>(present: T): History<T> {
  return { past: [], present, future: [] };
}

/** The history after a change. Changes with the same `key` within a second merge into one step. */
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

/** One step back; undefined if there is none. */
export function undone<T>({ past, present, future }: History<T>): History<T> | undefined {
  const before = past.at(-1);
  if (before === undefined) return undefined;
  return { past: past.slice(0, -1), present: before, future: [present, ...future] };
}

/** One step forward; undefined if there is none. */
export function redone<T>({ past, present, future }: History<T>): History<T> | undefined {
  const [next, ...rest] = future;
  if (next === undefined) return undefined;
  return { past: [...past, present], present: next, future: rest };
}

/**
 * Applies a change from elsewhere, which undo and redo must not revert, to the present and by `change` to
 * every step. Steps that the change does not fit are dropped, with those beyond them.
 */
export function rebaseHistory<T>(
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
