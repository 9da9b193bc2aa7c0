/** Checking a credential now: what is done, and whether the result is there. Pure, but for asking. */
import type { CredentialSpec } from '../../api/credential.ts';
import { ANNOTATION } from '../../api/group.ts';
import { patchObject } from '../kube/objects.ts';
import { CREDENTIALS, type CredentialObject } from '../kube/resources.ts';
import { wishNow } from './save.ts';

/** Asks the operator for a check. */
export async function askForTrial(at: { namespace: string; name: string }): Promise<void> {
  await patchObject(CREDENTIALS, at, { metadata: { annotations: { [ANNOTATION.check]: wishNow() } } });
}

/** Whether somebody has asked for a check that has not been made yet. */
export function isAskedFor({ metadata, status }: Pick<CredentialObject, 'metadata' | 'status'>): boolean {
  const wish = metadata.annotations?.[ANNOTATION.check];
  return wish !== undefined && status?.check !== wish;
}

/** What a check does, in words; undefined where the credential cannot be checked. */
export function trialWords(spec: CredentialSpec): string | undefined {
  const { smtp, imap, openai, oauth2, bot, http, s3 } = spec;
  if (smtp) return `Logs in at ${smtp.host}; sends nothing.`;
  if (imap) return `Logs in at ${imap.host}; reads nothing.`;
  if (openai) return `Asks ${hostOf(openai.baseURL ?? 'https://api.openai.com')} for its models.`;
  if (bot) return `Asks ${bot.platform === 'slack' ? 'Slack' : 'Telegram'} whose token it is.`;
  if (s3) return `Asks ${hostOf(s3.endpoint)} for the bucket ${s3.bucket}.`;
  if (http?.checkURL !== undefined) return `Asks for ${http.checkURL}.`;
  return oauth2 && accountWords(oauth2);
}

function accountWords({
  imap,
  preset,
  userinfoURL,
}: NonNullable<CredentialSpec['oauth2']>): string | undefined {
  if (imap) return 'Logs in to the mailbox.';
  const isNamed = preset === 'google' || (preset !== 'microsoft' && userinfoURL !== undefined);
  return isNamed ? 'Asks the provider whose account it is.' : undefined;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
