/** Polls of a spreadsheet, and the row changes that they return. */
import { expect } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import type { Polled } from '../../../nodes/contract/poller.ts';
import { spreadsheetPoller } from '../../../nodes/triggers/spreadsheet/poller.ts';
import { createPolls, type Polls } from './polls.ts';

/** `token`: the access token of the account; null if it is not connected. */
export function sheetPolls(
  spec: CredentialSpec,
  fields: Partial<SpreadsheetTrigger>,
  token: string | null = 'good-token',
): Polls {
  const trigger = { credential: 'account', spreadsheetId: 'orders', ...fields };
  const secrets: Record<string, string> = token === null ? {} : { access_token: token };
  return createPolls(spreadsheetPoller, trigger, { spec, secrets });
}

/** The same at the fake Google Sheets. */
export function googlePolls(server: { url: string }, fields: Partial<SpreadsheetTrigger> = {}): Polls {
  return sheetPolls({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }, fields);
}

type Values = Record<string, unknown> | null;
type Change = { sheet: string; row: number; event: string; values: Values; previous: Values };
type SheetEvent = { spreadsheet_id: string; changes: Change[]; truncated: boolean };

/** The data of each event. */
export function sheetEventsOf({ events }: Polled): SheetEvent[] {
  return events.map(({ output }) => output.data_content as SheetEvent);
}

/** The row changes of all events. */
export function changesOf(polled: Polled): Change[] {
  return sheetEventsOf(polled).flatMap(({ changes }) => changes);
}

/** The row changes in short: the kind of change, the row and its first cell. */
export function changeNames(polled: Polled): string[] {
  return changesOf(polled).map(({ event, row, values, previous }) => {
    const [first] = Object.values(values ?? previous ?? {});
    return `${event} ${row} ${String(first)}`;
  });
}

/** `fail` fails the requests after that number. Expects this error of each poll, without the token in it. */
export async function expectFailureAtEach(
  polls: Polls,
  { requests, fail }: { requests: number; fail: (after: number) => void },
  expected: { reason: string; retryAfterSeconds: number | undefined },
): Promise<void> {
  for (let after = 0; after < requests; after += 1) {
    fail(after);
    const error = await polls.pollAll().catch((error: unknown) => error);
    expect(error).toMatchObject(expected);
    expect(String(error)).not.toContain('good-token');
  }
}
