/** Rows of a workbook of Excel, each change a run. */
import { startWorkbookServer } from '../providers/microsoft/workbookServer.ts';
import { graphRefusal } from './graph.ts';
import { rowsDriver } from './rows.ts';

export const excelDriver = rowsDriver({
  title: 'rows of a workbook of Excel',
  preset: 'microsoft',
  id: '01CYZLFJGUJ7JHBSZDFZFL25KSZGQTVAUN',
  largeRows: 10_000,
  server: startWorkbookServer,
  refusal: graphRefusal,
});
