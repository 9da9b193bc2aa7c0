/** The poller of spreadsheet triggers. */
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import type { CredentialAccess, Wire } from '../../contract/node.ts';
import { createPoller, PollError } from '../../contract/poller.ts';
import { findProvider, titlesFor } from '../../providers/register.ts';
import { poll } from './poll.ts';

export const spreadsheetPoller = createPoller<SpreadsheetTrigger>(async (trigger, cursor, context) => {
  const credential = await context.credential(trigger.credential);
  const over = new AbortController();
  // Requests that a poll no longer waits for end with it.
  const signal = AbortSignal.any([context.signal, over.signal]);
  const opened = await open(credential, trigger, { egress: context.egress, signal });
  try {
    return await poll({ ...opened, trigger, context }, cursor);
  } finally {
    over.abort();
  }
});

/** @throws PollError `InvalidTrigger` for an account without spreadsheets */
async function open(credential: CredentialAccess, { spreadsheetId }: SpreadsheetTrigger, wire: Wire) {
  const provider = findProvider(credential.spec, 'spreadsheet');
  if (provider) return (await provider.spreadsheet())(credential, spreadsheetId, wire);
  throw new PollError(
    'InvalidTrigger',
    `the credential ${credential.name} cannot read spreadsheets: use one of ${titlesFor('spreadsheet')}`,
  );
}
