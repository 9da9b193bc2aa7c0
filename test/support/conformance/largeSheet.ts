/** A large sheet, and what a person does to it at once. */

const COLUMNS = 20;
const EDITED = 1_000;

/** Adds rows of text with a key, until there are so many with the header. */
export function fillRows(rows: unknown[][], count: number): void {
  for (let row = rows.length; row < count; row += 1)
    rows.push([`row-${row}`, ...Array.from({ length: COLUMNS - 1 }, (_, n) => `text ${row} ${n}`)]);
}

/** Changes rows all over it, each one time: how many. */
export function editRows(rows: unknown[][]): number {
  const step = Math.floor(rows.length / EDITED);
  for (let edit = 1; edit <= EDITED; edit += 1) rows[edit * step - 1]?.splice(1, 1, 'edited');
  return EDITED;
}
