/** Reads cells in pieces that are small enough for one answer. */
import { Failure } from '../contract/failure.ts';
import { PollError } from '../contract/poller.ts';
import type { Cell, Area } from '../contract/book.ts';

/**
 * The rows of the area. Where `ask` fails with `TooLarge`, the halves are asked for.
 * @throws PollError `TooLarge` for a row that does
 */
export async function inPieces(
  area: Area,
  limit: number,
  ask: (area: Area) => Promise<Cell[][]>,
): Promise<Cell[][]> {
  try {
    return await ask(area);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'TooLarge') throw error;
    const { startRow, endRow } = area;
    if (endRow - startRow <= 1)
      throw new PollError('TooLarge', `row ${endRow} has more than ${limit / 2 ** 20} MiB of text`);
    const middle = startRow + Math.ceil((endRow - startRow) / 2);
    const first = await inPieces({ ...area, endRow: middle }, limit, ask);
    // Of the first half the empty rows at its end were left out.
    while (first.length < middle - startRow) first.push([]);
    return [...first, ...(await inPieces({ ...area, startRow: middle }, limit, ask))];
  }
}
