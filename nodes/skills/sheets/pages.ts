/**
 * Reads a sheet in pages. Guarantees that one page at a time is in memory, however large the sheet and its
 * cells are.
 */
import type { Cell } from '../../contract/book.ts';
import { StepError } from '../../../api/reasons.ts';
import { readValues, type Sheets, type SheetSize } from '../../providers/google/sheets.ts';
import { lettersOf, rangeOf, type Area } from '../../spreadsheet/table.ts';

/**
 * Cells of a page: some megabytes of JSON, as a rule. Google counts requests, so that there should be few of
 * them.
 */
const PAGE_CELLS = 100_000;

/** Cells that the sheet has. */
export type Bounded = Required<Area>;

export type Page = { firstRow: number; rows: Cell[][] };

/**
 * The rows of the area, a page at a time. A page that is too large to be read is asked for again in smaller
 * ones.
 */
export async function* pagesOf(
  sheets: Sheets,
  { title }: SheetSize,
  { area, atOnce }: { area: Bounded; atOnce: number },
): AsyncGenerator<Page> {
  const { firstColumn, lastColumn, lastRow } = area;
  let length = Math.max(1, Math.min(atOnce, Math.floor(PAGE_CELLS / (lastColumn - firstColumn + 1))));
  let { firstRow } = area;
  while (firstRow <= lastRow) {
    const end = Math.min(firstRow + length - 1, lastRow);
    const range = rangeOf(title, `${lettersOf(firstColumn)}${firstRow}:${lettersOf(lastColumn)}${end}`);
    const rows = await readValues(sheets, range).catch((error: unknown) => {
      if (error instanceof StepError && error.reason === 'OutputTooLarge' && length > 1) return undefined;
      throw error;
    });
    if (rows) {
      yield { firstRow, rows };
      firstRow = end + 1;
    } else length = Math.ceil(length / 8);
  }
}
