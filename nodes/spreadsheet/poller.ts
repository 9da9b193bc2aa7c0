/** The poller of spreadsheet triggers: Google Sheets, by a credential of kind oauth2. */
import type { SpreadsheetTrigger } from '../../api/trigger.ts';
import { accessToken } from '../node.ts';
import { PollError, type Poller } from '../poller.ts';
import { googleBook } from './googleSheets.ts';
import { look } from './look.ts';
import { spreadsheetOf } from './reference.ts';

export const spreadsheetPoller: Poller<SpreadsheetTrigger> = {
  poll: async (trigger, cursor, context) => {
    const { id, gid } = spreadsheetOf(trigger.spreadsheetId);
    const credential = await context.credential(trigger.credential);
    const { preset = 'custom', apiURL } = credential.spec.oauth2 ?? {};
    const token = accessToken(credential);
    if (preset !== 'google' && (preset !== 'custom' || apiURL === undefined))
      throw new PollError(
        'InvalidTrigger',
        `the credential ${credential.name} cannot read spreadsheets: its preset is not google`,
      );
    const over = new AbortController();
    // What a look asked for and does not wait for any more ends with it.
    const signal = AbortSignal.any([context.signal, over.signal]);
    const book = googleBook({ token, context: { egress: context.egress, signal } }, id, apiURL);
    try {
      return await look({ book, trigger, context, gid }, cursor);
    } finally {
      over.abort();
    }
  },
};
