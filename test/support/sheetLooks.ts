/** Looks at a spreadsheet, as the poll pod would make them one after the other: cursor and memory go on. */
import type { CredentialSpec } from '../../api/credential.ts';
import { StepError } from '../../api/reasons.ts';
import type { SpreadsheetTrigger } from '../../api/trigger.ts';
import type { PollContext, Polled } from '../../nodes/poller.ts';
import { Secret } from '../../nodes/secret.ts';
import { spreadsheetPoller } from '../../nodes/triggers/spreadsheet/poller.ts';
import { createLookMemory } from './lookMemory.ts';
import { localEgress } from './stepContext.ts';

export type SheetLooks = {
  /** One look, and whatever follows at once: what they brought together. What they brought counts from then on. */
  look(context?: Partial<PollContext>): Promise<Polled>;
  /** One look alone. */
  lookOnce(context?: Partial<PollContext>): Promise<Polled>;
  /** Has the next look find this cursor and what was remembered with it, as after a look that was killed. */
  goBackTo(state: { cursor: unknown; bytes: Buffer | undefined }): void;
  state(): Promise<{ cursor: unknown; bytes: Buffer | undefined }>;
};

/** `token`: what the account has; null where nobody has connected it. */
export function sheetLooks(
  spec: CredentialSpec,
  fields: Partial<SpreadsheetTrigger>,
  token: string | null = 'good-token',
): SheetLooks {
  const credential = {
    name: 'sheets',
    spec,
    secret: () => {
      if (token === null) throw new StepError('CredentialMissing', 'the Secret has no such key');
      return new Secret(token);
    },
  };
  const trigger = { credential: 'sheets', spreadsheetId: 'orders', ...fields };
  let memory = createLookMemory();
  let cursor: unknown;
  const lookOnce = async (context: Partial<PollContext> = {}): Promise<Polled> => {
    const whole: PollContext = {
      credential: async () => credential,
      egress: localEgress,
      signal: new AbortController().signal,
      enough: new AbortController().signal,
      limit: 100,
      maxEventBytes: 524_288,
      maxBytes: 4_194_304,
      memory,
      log: { info: () => undefined, warn: () => undefined },
      ...context,
    };
    const polled = await spreadsheetPoller.poll(trigger, cursor, whole);
    // It goes through JSON between two looks.
    cursor = polled.cursor === undefined ? undefined : JSON.parse(JSON.stringify(polled.cursor));
    return polled;
  };
  return {
    lookOnce,
    look: async (context) => {
      const events: Polled['events'][number][] = [];
      for (;;) {
        const polled = await lookOnce(context);
        events.push(...polled.events);
        if (!polled.more) return { ...polled, events };
      }
    },
    state: async () => ({ cursor, bytes: await memory.read() }),
    goBackTo: (state) => {
      cursor = state.cursor;
      memory = createLookMemory();
      if (state.bytes) void memory.keep(state.bytes);
    },
  };
}

/** The same at a server of Google Sheets. */
export function googleLooks(server: { url: string }, fields: Partial<SpreadsheetTrigger> = {}): SheetLooks {
  return sheetLooks({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }, fields);
}
