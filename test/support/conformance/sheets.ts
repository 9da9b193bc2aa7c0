/** Rows of a Google spreadsheet, each change a run. */
import { startSheetsServer } from '../providers/google/sheetsServer.ts';
import { googleRefusal } from './google.ts';
import { rowsDriver } from './rows.ts';

export const sheetsDriver = rowsDriver({
  title: 'rows of a Google spreadsheet',
  preset: 'google',
  id: 'spreadsheet-1',
  // As many as are watched.
  largeRows: 100_000,
  server: startSheetsServer,
  refusal: googleRefusal,
});
