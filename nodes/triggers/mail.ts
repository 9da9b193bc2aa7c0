/** The poller of mail triggers: by Gmail's API or by IMAP, as the credential says. */
import type { CredentialSpec } from '../../api/credential.ts';
import type { MailTrigger } from '../../api/trigger.ts';
import { accessToken, type CredentialAccess } from '../node.ts';
import { createPoller, PollError, type PollContext } from '../poller.ts';
import { GMAIL_URL, type Gmail } from '../providers/google/gmail.ts';
import { pollGmail } from '../providers/google/gmailPoller.ts';
import { IMAP_PORT, type ImapAccount } from '../providers/imap/connection.ts';
import { pollImap } from '../providers/imap/poller.ts';

const IMAP_HOST = {
  google: 'imap.gmail.com',
  microsoft: 'outlook.office365.com',
  custom: undefined,
} as const;

export const mailPoller = createPoller<MailTrigger>(async (trigger, cursor, context, since) => {
  const credential = await context.credential(trigger.credential);
  const imap = imapAccount(credential);
  if (imap) return pollImap(imap, trigger, cursor, context, since);
  return pollGmail(gmailAccount(credential, context), trigger, cursor, context, since);
});

/**
 * The account at an IMAP server; undefined where the credential is one for Gmail's API.
 * @throws PollError `InvalidTrigger`, or a StepError `CredentialMissing`
 */
export function imapAccount(credential: CredentialAccess): ImapAccount | undefined {
  const { imap, oauth2 } = credential.spec;
  if (imap) {
    const { host, tls = 'TLS', port = IMAP_PORT[tls], username, passwordRef } = imap;
    return { host, port, tls, username, secret: credential.secret(passwordRef), kind: 'password' };
  }
  if (!oauth2) throw unfit(credential, 'is neither of kind imap nor of kind oauth2');
  const { preset = 'custom' } = oauth2;
  if (oauth2.imap) return tokenAccount(credential, oauth2.imap, preset);
  if (preset === 'google' || (preset === 'custom' && oauth2.apiURL !== undefined)) return undefined;
  throw unfit(credential, 'says nowhere to read mail: give oauth2.imap with the username');
}

type OAuth2 = NonNullable<CredentialSpec['oauth2']>;

function tokenAccount(
  credential: CredentialAccess,
  imap: NonNullable<OAuth2['imap']>,
  preset: keyof typeof IMAP_HOST,
): ImapAccount {
  const { tls = 'TLS', port = IMAP_PORT[tls], username, host = IMAP_HOST[preset] } = imap;
  if (host === undefined) throw unfit(credential, 'names no mail server: give oauth2.imap.host');
  return { host, port, tls, username, secret: accessToken(credential), kind: 'token' };
}

function gmailAccount(credential: CredentialAccess, context: PollContext): Gmail {
  const { apiURL = GMAIL_URL } = credential.spec.oauth2 ?? {};
  return { baseURL: apiURL, token: accessToken(credential), wire: context };
}

function unfit({ name }: CredentialAccess, problem: string): PollError {
  return new PollError('InvalidTrigger', `the credential ${name} cannot read mail: it ${problem}`);
}
