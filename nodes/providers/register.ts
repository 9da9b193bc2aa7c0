/**
 * The register of providers: one line each. If several serve a credential, the first one with the offer is
 * used.
 */
import type { CredentialKind, CredentialSpec, Platform } from '../../api/credential.ts';
import type { ReadMessage } from '../contract/messenger.ts';
import type { Provider } from '../contract/provider.ts';
import { anthropic } from './anthropic/provider.ts';
import { google } from './google/provider.ts';
import { http } from './http/provider.ts';
import { imap } from './imap/provider.ts';
import { microsoft } from './microsoft/provider.ts';
import { oauth2 } from './oauth2/provider.ts';
import { openai } from './openai/provider.ts';
import { s3 } from './s3/provider.ts';
import { slack } from './slack/provider.ts';
import { smtp } from './smtp/provider.ts';
import { telegram } from './telegram/provider.ts';

export const PROVIDERS: readonly Provider[] = [
  oauth2,
  s3,
  imap,
  google,
  microsoft,
  smtp,
  openai,
  anthropic,
  http,
  telegram,
  slack,
];

/** What a provider can offer. */
export type Offer = 'files' | 'store' | 'spreadsheet' | 'mail' | 'messenger' | 'model' | 'check';

/** The provider that serves the credential, if it has the offer; otherwise undefined. */
export function findProvider<O extends Offer>(
  spec: CredentialSpec,
  offer: O,
): (Provider & Required<Pick<Provider, O>>) | undefined {
  return PROVIDERS.find(
    (provider): provider is Provider & Required<Pick<Provider, O>> =>
      provider[offer] !== undefined && provider.serves(spec),
  );
}

/** The kinds of credentials that lead to a provider with that offer. */
export function credentialsFor(offer: Offer): readonly CredentialKind[] {
  const kinds = PROVIDERS.filter((each) => each[offer]).flatMap(({ credentials }) => credentials);
  return [...new Set(kinds)];
}

/** The credentials that can be used for the offer, for messages. */
export function titlesFor(offer: Offer): string {
  return PROVIDERS.filter((each) => each[offer])
    .map(({ title }) => title)
    .join(', or ');
}

/** Reads what a platform sends to bots. */
export function readerFor(platform: Platform): ReadMessage {
  const bot = PROVIDERS.map((provider) => provider.bot).find((each) => each?.platform === platform);
  if (!bot) throw new Error(`no provider reads messages of ${platform}`);
  return bot.read;
}
