/**
 * The kinds of credentials that triggers and agents accept, for the console, which does not load providers. A
 * test compares them with the register of providers.
 */
import type { CredentialKind } from './credential.ts';

export const ACCEPTED_CREDENTIALS = {
  mail: ['imap', 'oauth2'],
  spreadsheet: ['oauth2'],
  fileStorage: ['s3', 'oauth2'],
  bot: ['bot'],
  agent: ['openai', 'anthropic'],
} as const satisfies Record<string, readonly CredentialKind[]>;
