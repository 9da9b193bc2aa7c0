/**
 * Compares the rows of two polls. With keys, rows are compared by key, wherever they are. Without, equal rows
 * are no change, wherever they are; between rows that kept their order, the first row that is gone and the
 * first that is new are one updated row, and so on.
 */
import type { Row } from './rows.ts';

/** What a row after is compared by. */
const contentOf = ({ contentBefore, content }: Row): string => contentBefore ?? content;

export type RowEvent = 'added' | 'updated' | 'removed';

export type RowChange = { event: RowEvent; before?: Row; after?: Row };

/** The changes, in the order of the rows. `isKeyed`: rows have an id. */
export function diff(before: readonly Row[], after: readonly Row[], isKeyed: boolean): RowChange[] {
  const changes = isKeyed ? diffByKey(before, after) : diffByContent(before, after);
  return changes.toSorted((a, b) => numberOf(a) - numberOf(b));
}

export function numberOf({ before, after }: RowChange): number {
  return (after ?? before)?.number ?? 0;
}

function diffByKey(before: readonly Row[], after: readonly Row[]): RowChange[] {
  const left = new Map(before.map((row) => [row.id, row]));
  const changes: RowChange[] = [];
  for (const row of after) {
    const old = left.get(row.id);
    left.delete(row.id);
    if (!old) changes.push({ event: 'added', after: row });
    else if (old.content !== contentOf(row)) changes.push({ event: 'updated', before: old, after: row });
  }
  for (const row of left.values()) changes.push({ event: 'removed', before: row });
  return changes;
}

/** The place of a row after, and that of the same row before. */
type Pair = { after: number; before: number };

function diffByContent(before: readonly Row[], after: readonly Row[]): RowChange[] {
  const pairs = pairsOf(before, after);
  const isOld = new Uint8Array(before.length);
  const isNew = new Uint8Array(after.length);
  for (const pair of pairs) {
    isOld[pair.before] = 1;
    isNew[pair.after] = 1;
  }
  const changes: RowChange[] = [];
  let last: Pair = { before: -1, after: -1 };
  for (const anchor of [...inOrder(pairs), { before: before.length, after: after.length }]) {
    const gone = before.slice(last.before + 1, anchor.before).filter((_, i) => !isOld[last.before + 1 + i]);
    const come = after.slice(last.after + 1, anchor.after).filter((_, i) => !isNew[last.after + 1 + i]);
    changes.push(...changesOf(gone, come));
    last = anchor;
  }
  return changes;
}

function* changesOf(gone: readonly Row[], come: readonly Row[]): Generator<RowChange> {
  for (let index = 0; index < Math.max(gone.length, come.length); index += 1) {
    const [old, row] = [gone[index], come[index]];
    if (old && row) yield { event: 'updated', before: old, after: row };
    else if (row) yield { event: 'added', after: row };
    else if (old) yield { event: 'removed', before: old };
  }
}

/** Rows that are the same, each at most once, in the order of the rows after. */
function pairsOf(before: readonly Row[], after: readonly Row[]): Pair[] {
  const places = new Map<string, number[] | number>();
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const content = before[index]?.content ?? '';
    const found = places.get(content);
    // Nearly all rows are there once: a list for each would take much.
    if (found === undefined) places.set(content, index);
    else if (typeof found === 'number') places.set(content, [found, index]);
    else found.push(index);
  }
  const pairs: Pair[] = [];
  for (const [index, row] of after.entries()) {
    const content = contentOf(row);
    const found = places.get(content);
    const place = typeof found === 'object' ? found.pop() : found;
    if (typeof found === 'number') places.delete(content);
    if (place !== undefined) pairs.push({ after: index, before: place });
  }
  return pairs;
}

/**
 * As many of them as possible that have the same order before and after: a longest increasing subsequence.
 */
function inOrder(pairs: readonly Pair[]): Pair[] {
  /** By length: the pair that ends a sequence of that length with the least place before. */
  const ends: number[] = [];
  const previous = new Int32Array(pairs.length);
  for (const [index, pair] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.before ?? 0) < pair.before) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const found: Pair[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair) found.push(pair);
  }
  return found.toReversed();
}
