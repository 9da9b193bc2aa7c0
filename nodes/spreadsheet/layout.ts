/**
 * The columns of the watched area: their names, the key column, and where columns moved since the last poll.
 */
import { PollError } from '../contract/poller.ts';
import { columnOf, lettersOf } from './table.ts';
import type { Cell } from '../contract/book.ts';

/** What a row is in the output: by the names of columns, or in order where there is no header. */
export type Values = Record<string, Cell> | Cell[];

/**
 * A name for each column of the header, none of them twice: a column without a name has its letters, and one
 * whose name another column has before it has both, such as `Price (D)`. `first`: the number of the first
 * column.
 */
export function namesOf(header: readonly Cell[], first: number): string[] {
  const taken = new Set<string>();
  return header.map((cell, index) => {
    const letters = lettersOf(first + index);
    const text = String(cell).trim() || letters;
    const isTaken = taken.has(text);
    let name = isTaken ? `${text} (${letters})` : text;
    while (taken.has(name)) name += "'";
    taken.add(name);
    return name;
  });
}

/**
 * The row by names; what is beyond the header has the letters of its column, and is left out where it is
 * empty.
 */
export function named(row: readonly Cell[], names: readonly string[] | undefined, first: number): Values {
  if (!names) return [...row];
  const beyond = row
    .slice(names.length)
    .map((cell, index): [string, Cell] => [lettersOf(first + names.length + index), cell])
    .filter(([, cell]) => cell !== '');
  return Object.fromEntries([
    ...names.map((name, index): [string, Cell] => [name, row[index] ?? '']),
    ...beyond,
  ]);
}

/**
 * Which cell of a row is its key, counted from the first column that is watched: by name first, else by
 * letters. `before`: the names that the columns had; the letters of one that was meant by its name are no
 * other column.
 * @throws PollError `InvalidTrigger`
 */
export function keyIndexOf(
  keyColumn: string,
  names: readonly string[] | undefined,
  { startColumn, endColumn }: { startColumn: number; endColumn: number },
  before: readonly string[] | undefined,
): number {
  const byName = names?.indexOf(keyColumn.trim()) ?? -1;
  if (byName >= 0) return byName;
  const isRenamed = before?.includes(keyColumn.trim()) === true;
  const column = /^[A-Za-z]{1,3}$/.test(keyColumn.trim()) ? columnOf(keyColumn.trim()) : -1;
  if (!isRenamed && column >= startColumn && column < endColumn) return column - startColumn;
  throw new PollError(
    'InvalidTrigger',
    `no column that is watched has the name or letters that keyColumn says: correct it, or the header`,
  );
}

/** For each column that was there, where it is now. */
export type Moved = { columns: readonly number[]; shift: number };

/**
 * Where the columns of an older header may be now, the likeliest first: by their names, and those whose names
 * are gone by their order among those whose names are new, from the left or from the right; so are columns of
 * one name, and those that have none. What holds something beyond the header may have moved with it, or have
 * got a name. Empty where columns are gone: then nobody can say what a row of now would have been then.
 * `first`: the number of the first column.
 */
export function movesFrom(before: readonly string[], now: readonly string[], first: number): Moved[] {
  const texts = (names: readonly string[]) =>
    names.map((name, index) => textOf(name, lettersOf(first + index)));
  const [old, others] = [texts(before), texts(now)];
  const found = new Map<string, Moved>();
  for (const order of [LEFT, { ...LEFT, rest: 'right' }, { ...LEFT, named: 'right' }, RIGHT] as const) {
    const columns = placesOf(old, others, order);
    if (!columns) return [];
    for (const shift of [now.length - before.length, 0])
      found.set(JSON.stringify([columns, shift]), { columns, shift });
  }
  return [...found.values()];
}

/** What stands in the header: the same for all columns of that name. */
function textOf(name: string, letters: string): string {
  if (name === letters) return '';
  const suffix = ` (${letters})`;
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

/** From which side columns are counted: those of one name, and the rest of them. */
type Order = Readonly<Record<'named' | 'rest', 'left' | 'right'>>;
const LEFT: Order = { named: 'left', rest: 'left' };
const RIGHT: Order = { named: 'right', rest: 'right' };

function placesOf(before: readonly string[], now: readonly string[], order: Order): number[] | undefined {
  const free = Map.groupBy(now.keys(), (index) => now[index] ?? '');
  const columns = new Map<number, number>();
  const isFromRight = order.named === 'right';
  for (const index of isFromRight ? [...before.keys()].toReversed() : before.keys()) {
    const places = free.get(before[index] ?? '');
    const place = isFromRight ? places?.pop() : places?.shift();
    if (place !== undefined) columns.set(index, place);
  }
  const rest = [...free.values()].flat().toSorted((a, b) => a - b);
  const open = [...before.keys()].filter((index) => !columns.has(index));
  if (open.length > rest.length) return undefined;
  const start = order.rest === 'right' ? rest.length - open.length : 0;
  for (const [at, index] of open.entries()) columns.set(index, rest[start + at] ?? 0);
  return Array.from(before.keys(), (index) => columns.get(index) ?? 0);
}

/** The row as the columns were before. */
export function asBefore(row: readonly Cell[], { columns, shift }: Moved): Cell[] {
  return [...columns.map((place) => row[place] ?? ''), ...row.slice(columns.length + shift)];
}
