/** The columns of what is watched: their names, which of them identifies a row, and what became of those that were there before. */
import { PollError } from '../poller.ts';
import { columnOf, lettersOf } from '../skills/sheets/table.ts';
import type { Cell } from './book.ts';

/** What a row is in the output: by the names of columns, or in order where there is no header. */
export type Values = Record<string, Cell> | Cell[];

/**
 * A name for each column of the header, none of them twice: a column without a name has its letters, and one whose name another column
 * has before it has both, such as `Price (D)`. `first`: the number of the first column.
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

/** The row by names; what is beyond the header has the letters of its column, and is left out where it is empty. */
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
 * Which cell of a row is its key, counted from the first column that is watched: by name first, else by letters.
 * @throws PollError `InvalidTrigger`
 */
export function keyIndexOf(
  keyColumn: string,
  names: readonly string[] | undefined,
  { startColumn, endColumn }: { startColumn: number; endColumn: number },
): number {
  const byName = names?.indexOf(keyColumn.trim()) ?? -1;
  if (byName >= 0) return byName;
  const column = /^[A-Za-z]{1,3}$/.test(keyColumn.trim()) ? columnOf(keyColumn.trim()) : -1;
  if (column >= startColumn && column < endColumn) return column - startColumn;
  throw new PollError(
    'InvalidTrigger',
    `no column that is watched has the name or letters that keyColumn says: correct it, or the header`,
  );
}

/** For each column that was there, where it is now. */
export type Moved = { columns: readonly number[]; shift: number };

/**
 * Where the columns of an older header are now: by their names, and those whose names are gone by their order among those whose names
 * are new. Undefined where columns are gone: then nobody can say what a row of now would have been then.
 */
export function movedFrom(before: readonly string[], now: readonly string[]): Moved | undefined {
  const places = new Map(now.map((name, index) => [name, index]));
  const isOld = new Set(before);
  const renamed = [...now.keys()].filter((index) => !isOld.has(now[index] ?? ''));
  const columns: number[] = [];
  for (const name of before) {
    const place = places.get(name) ?? renamed.shift();
    if (place === undefined) return undefined;
    columns.push(place);
  }
  return { columns, shift: now.length - before.length };
}

/** The row as the columns were before. */
export function asBefore(row: readonly Cell[], { columns, shift }: Moved): Cell[] {
  return [...columns.map((place) => row[place] ?? ''), ...row.slice(columns.length + shift)];
}
