/**
 * What a list shows of a row is made once for each row: rows that an event does not touch stay the same objects, so that what is made of
 * them does, too, and is not drawn anew.
 */
import type { Row } from './table.ts';

/** The function, with what it gave for rows that are still there. */
export function perRow<T>(make: (row: Row) => T): (row: Row) => T {
  const made = new WeakMap<Row, T>();
  return (row) => {
    const known = made.get(row);
    if (known !== undefined) return known;
    const next = make(row);
    made.set(row, next);
    return next;
  };
}
