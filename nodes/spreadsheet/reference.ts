/**
 * Parses how people name spreadsheets and cells: ID or URL, A1 notation
 * (https://developers.google.com/workspace/sheets/api/guides/concepts#cell).
 */
import type { Area } from '../contract/book.ts';
import { PollError } from '../contract/poller.ts';
import { lettersOf, parseRange, spreadsheetIn } from './table.ts';

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

/** A file of a OneDrive: one of the account's own by its id, or any that it may see by a URL. */
export type FileName = { id: string } | { url: string };

/**
 * The workbook that is meant.
 * @throws PollError `InvalidTrigger`
 */
export function workbookOf(text: string): FileName {
  if (/^[\w!-]{1,200}$/.test(text)) return { id: text };
  if (isURL(text)) return { url: text };
  throw new PollError(
    'InvalidTrigger',
    'spreadsheetId is neither the id of a file in the OneDrive nor a URL that leads to one',
  );
}

function isURL(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:';
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
export function a1(title: string, area: Area): string {
  return `'${title.replaceAll("'", "''")}'!${addressOf(area)}`;
}

/** The range of these cells, in whatever sheet. */
export function addressOf({ startRow, endRow, startColumn, endColumn }: Area): string {
  return `${lettersOf(startColumn)}${startRow + 1}:${lettersOf(endColumn - 1)}${endRow}`;
}
