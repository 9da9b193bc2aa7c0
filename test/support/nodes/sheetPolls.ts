/**
 * Looks at a spreadsheet, as the poll pod would make them one after the other: cursor and known items continue.
 */
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import type { PollContext, Polled } from '../../../nodes/contract/poller.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { spreadsheetPoller } from '../../../nodes/triggers/spreadsheet/poller.ts';
import { createKnownItems } from './knownItems.ts';
import { localEgress } from './stepContext.ts';

export type SheetPolls = {
  /**
   * One poll, and whatever follows at once: what they brought together. What they brought counts from then
   * on.
   */
  poll(context?: Partial<PollContext>): Promise<Polled>;
  /** One poll alone. */
  pollOnce(context?: Partial<PollContext>): Promise<Polled>;
  /** Has the next poll find this cursor and what was remembered with it, as after a poll that was killed. */
  goBackTo(state: { cursor: unknown; bytes: Buffer | undefined }): void;
  state(): Promise<{ cursor: unknown; bytes: Buffer | undefined }>;
};

/** `token`: what the account has; null where nobody has connected it. */
export function sheetPolls(
  spec: CredentialSpec,
  fields: Partial<SpreadsheetTrigger>,
  token: string | null = 'good-token',
): SheetPolls {
  const credential = {
    name: 'sheets',
    spec,
    secret: () => {
      if (token === null) throw new StepError('CredentialMissing', 'the Secret has no such key');
      return new Secret(token);
    },
  };
  const trigger = { credential: 'sheets', spreadsheetId: 'orders', ...fields };
  let knownItems = createKnownItems();
  let cursor: unknown;
  const pollOnce = async (context: Partial<PollContext> = {}): Promise<Polled> => {
    const whole: PollContext = {
      credential: async () => credential,
      egress: localEgress,
      signal: new AbortController().signal,
      enough: new AbortController().signal,
      limit: 100,
      maxEventBytes: 524_288,
      maxBytes: 4_194_304,
      knownItems,
      log: { info: () => undefined, warn: () => undefined },
      ...context,
    };
    const polled = await spreadsheetPoller.poll(trigger, cursor, whole);
    // It goes through JSON between two polls.
    cursor = polled.cursor === undefined ? undefined : JSON.parse(JSON.stringify(polled.cursor));
    return polled;
  };
  return {
    pollOnce,
    poll: async (context) => {
      const events: Polled['events'][number][] = [];
      for (;;) {
        const polled = await pollOnce(context);
        events.push(...polled.events);
        if (!polled.more) return { ...polled, events };
      }
    },
    state: async () => ({ cursor, bytes: await knownItems.read() }),
    goBackTo: (state) => {
      cursor = state.cursor;
      knownItems = createKnownItems();
      if (state.bytes) void knownItems.store(state.bytes);
    },
  };
}

/** The same at a server of Google Sheets. */
export function googlePolls(server: { url: string }, fields: Partial<SpreadsheetTrigger> = {}): SheetPolls {
  return sheetPolls({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }, fields);
}
