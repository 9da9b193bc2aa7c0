/** Finds the IMAP account of a credential. */
import type { CredentialSpec } from '../../../api/credential.ts';
import { accessToken, type CredentialAccess } from '../../contract/node.ts';
import { PollError } from '../../contract/poller.ts';
import { IMAP_PORT, type ImapAccount } from './connection.ts';

const IMAP_HOST = {
  google: 'imap.gmail.com',
  microsoft: 'outlook.office365.com',
  custom: undefined,
} as const;

/**
 * The account of a credential of kind imap, or of kind oauth2 with `imap`.
 * @throws PollError `InvalidTrigger`, or a StepError `CredentialMissing`
 */
export function imapAccount(credential: CredentialAccess): ImapAccount {
  const { imap, oauth2 } = credential.spec;
  if (imap) {
    const { host, tls = 'TLS', port = IMAP_PORT[tls], username, passwordRef } = imap;
    return { host, port, tls, username, secret: credential.secret(passwordRef), kind: 'password' };
  }
  if (oauth2?.imap) return tokenAccount(credential, oauth2.imap, oauth2.preset ?? 'custom');
  throw unfit(credential, 'names no mail server: set oauth2.imap with the username');
}

type OAuth2 = NonNullable<CredentialSpec['oauth2']>;

function tokenAccount(
  credential: CredentialAccess,
  imap: NonNullable<OAuth2['imap']>,
  preset: keyof typeof IMAP_HOST,
): ImapAccount {
  const { tls = 'TLS', port = IMAP_PORT[tls], username, host = IMAP_HOST[preset] } = imap;
  if (host === undefined) throw unfit(credential, 'names no mail server: set oauth2.imap.host');
  return { host, port, tls, username, secret: accessToken(credential), kind: 'token' };
}

function unfit({ name }: CredentialAccess, problem: string): PollError {
  return new PollError('InvalidTrigger', `the credential ${name} cannot read mail: it ${problem}`);
}
