/** The poller of spreadsheet triggers: Google Sheets and workbooks of Excel, by a credential of kind oauth2. */
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { accessToken, type CredentialAccess } from '../../node.ts';
import type { Wire } from '../../http/request.ts';
import { createPoller, PollError } from '../../poller.ts';
import type { Book } from '../../spreadsheet/book.ts';
import { excelBook } from '../../providers/microsoft/excel.ts';
import { googleBook } from '../../providers/google/book.ts';
import { look } from './poll.ts';
import { spreadsheetOf, workbookOf } from '../../spreadsheet/reference.ts';

export const spreadsheetPoller = createPoller<SpreadsheetTrigger>(async (trigger, cursor, context) => {
  const credential = await context.credential(trigger.credential);
  const over = new AbortController();
  // Requests that a poll no longer waits for end with it.
  const signal = AbortSignal.any([context.signal, over.signal]);
  const opened = open(credential, trigger, { egress: context.egress, signal });
  try {
    return await look({ ...opened, trigger, context }, cursor);
  } finally {
    over.abort();
  }
});

/** @throws PollError `InvalidTrigger` for an account that has no spreadsheets */
function open(
  credential: CredentialAccess,
  { spreadsheetId }: SpreadsheetTrigger,
  wire: Wire,
): { book: Book; gid?: string | undefined } {
  const { preset = 'custom', apiURL } = credential.spec.oauth2 ?? {};
  const token = accessToken(credential);
  if (preset === 'microsoft') return { book: excelBook({ token, wire }, workbookOf(spreadsheetId), apiURL) };
  if (preset === 'google' || apiURL !== undefined) {
    const { id, gid } = spreadsheetOf(spreadsheetId);
    return { book: googleBook({ token, wire }, id, apiURL), gid };
  }
  throw new PollError(
    'InvalidTrigger',
    `the credential ${credential.name} cannot read spreadsheets: its preset is neither google nor microsoft`,
  );
}
