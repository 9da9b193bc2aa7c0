/** A sheet of the fake Google Sheets. */

/**
 * A plain value, or a value whose stored form differs from the displayed one: a date (a number of days), a
 * formula, an amount of money.
 */
export type Cell =
  | string
  | number
  | boolean
  | { value: string | number | boolean; formatted: string; formula?: string; isDate?: boolean };

/** By row and column, from the first of the sheet; missing cells are empty. */
export type Rows = (Cell | null)[][];

export type Sheet = { sheetId: number; title: string; rowCount: number; columnCount: number; rows: Rows };
