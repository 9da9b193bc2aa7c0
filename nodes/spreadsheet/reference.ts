/** How people name a spreadsheet and cells of it: id or URL, A1 notation (https://developers.google.com/workspace/sheets/api/guides/concepts#cell). */
import { PollError } from '../poller.ts';
import { lettersOf, parseRange, spreadsheetIn } from '../skills/sheets/table.ts';

/** Cells of a sheet, counted from 0; the ends are the first that do not belong to it, and `Infinity` where nothing is said. */
export type Area = { startRow: number; endRow: number; startColumn: number; endColumn: number };

/** A sheet by its title or by its number in URLs; neither: the first one. */
export type SheetName = { title?: string; gid?: string };

/**
 * The id of a spreadsheet, and the sheet that its URL shows.
 * @throws PollError `InvalidTrigger`
 */
export function spreadsheetOf(text: string): { id: string; gid?: string } {
  const found = spreadsheetIn(text);
  if (found) return found;
  throw new PollError(
    'InvalidTrigger',
    'spreadsheetId is neither the id of a Google spreadsheet nor the URL that the browser shows for it',
  );
}

/**
 * The cells that a range names, and the sheet if it names one. A single cell says where to begin.
 * @throws PollError `InvalidTrigger`
 */
export function rangeOf(range: string): { title?: string; area: Area } {
  const parsed = parseRange(range);
  if (!parsed)
    throw new PollError(
      'InvalidTrigger',
      'range is not in A1 notation: write it like A1:F, B2:F500, A:F or 5:90; names of ranges are not known',
    );
  const { firstRow, lastRow = Infinity, firstColumn, lastColumn = Infinity } = parsed.area;
  const area = {
    startRow: firstRow - 1,
    endRow: lastRow,
    startColumn: firstColumn,
    endColumn: lastColumn + 1,
  };
  return { ...(parsed.title !== undefined && { title: parsed.title }), area };
}

/** The range of these cells of a sheet; none of the ends is open. */
export function a1(title: string, { startRow, endRow, startColumn, endColumn }: Area): string {
  const quoted = `'${title.replaceAll("'", "''")}'`;
  return `${quoted}!${lettersOf(startColumn)}${startRow + 1}:${lettersOf(endColumn - 1)}${endRow}`;
}
