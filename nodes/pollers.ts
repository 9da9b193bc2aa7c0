/**
 * The register of triggers that are polled. Pollers are loaded on first use, so that the operator, which only
 * needs the kinds, loads none.
 */
import type { CredentialKind } from '../api/credential.ts';
import type { TriggerKind } from '../api/triggerKinds.ts';
import type { Poller } from './contract/poller.ts';
import { credentialsFor, type Offer } from './providers/register.ts';

type Registered = {
  load: () => Promise<Poller<unknown>>;
  /**
   * The fields of the trigger that say what it polls, with their defaults: where one of them is another, the
   * cursor means nothing.
   */
  place: Readonly<Record<string, string | boolean | undefined>>;
  /** What it needs of a provider. */
  offer: Offer;
};

const POLLERS: Partial<Record<TriggerKind, Registered>> = {
  mail: {
    load: async () => (await import('./triggers/mail.ts')).mailPoller,
    offer: 'mail',
    place: { credential: undefined, mailbox: 'INBOX' },
  },
  spreadsheet: {
    load: async () => (await import('./triggers/spreadsheet/poller.ts')).spreadsheetPoller,
    offer: 'spreadsheet',
    place: {
      credential: undefined,
      spreadsheetId: undefined,
      sheet: undefined,
      range: undefined,
      keyColumn: undefined,
      header: true,
    },
  },
  fileStorage: {
    load: async () => (await import('./triggers/files/poller.ts')).filePoller,
    offer: 'files',
    place: { credential: undefined, folderId: undefined, includeSubfolders: false },
  },
};

const registered = (kind: string): Registered | undefined =>
  Object.hasOwn(POLLERS, kind) ? POLLERS[kind as TriggerKind] : undefined;

/** The kinds of triggers that are polled. */
export const POLLED_KINDS: readonly string[] = Object.keys(POLLERS);

/** Whether triggers of that kind are polled. */
export function isPolled(kind: string): boolean {
  return registered(kind) !== undefined;
}

/** What a trigger of that kind with these fields polls. */
export function placeOf(kind: string, fields: Readonly<Record<string, unknown>>): readonly unknown[] {
  const place = Object.entries(registered(kind)?.place ?? {});
  return [kind, ...place.map(([field, otherwise]) => fields[field] ?? otherwise ?? null)];
}

/** The kinds of credentials that a trigger of that kind can use; empty for one that is not polled. */
export function pollsWith(kind: string): readonly CredentialKind[] {
  const offer = registered(kind)?.offer;
  return offer === undefined ? [] : credentialsFor(offer);
}

/** The poller for triggers of that kind. Throws where there is none. */
export async function loadPoller(kind: string): Promise<Poller<unknown>> {
  const found = registered(kind);
  if (!found) throw new Error(`triggers of kind ${kind} are not polled`);
  return found.load();
}
