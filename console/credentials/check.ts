/** Checks a credential on request: what the check does, and whether a request is pending. */
import type { CredentialSpec } from '../../api/credential.ts';
import { ANNOTATION } from '../../api/group.ts';
import { patchObject } from '../kube/objects.ts';
import { CREDENTIALS, type CredentialObject } from '../kube/resources.ts';
import { newRequestValue } from './save.ts';

/** Requests a check from the operator. */
export async function requestCheck(at: { namespace: string; name: string }): Promise<void> {
  await patchObject(CREDENTIALS, at, {
    metadata: { annotations: { [ANNOTATION.check]: newRequestValue() } },
  });
}

/** Whether a check was requested that has not happened yet. */
export function isCheckRequested({
  metadata,
  status,
}: Pick<CredentialObject, 'metadata' | 'status'>): boolean {
  const requested = metadata.annotations?.[ANNOTATION.check];
  return requested !== undefined && status?.check !== requested;
}

/** What a check does, as text; undefined if this credential cannot be checked. */
export function checkDescription(spec: CredentialSpec): string | undefined {
  const { smtp, imap, openai, anthropic, oauth2, bot, http, s3 } = spec;
  if (smtp) return `The test signs in to ${smtp.host} without sending email.`;
  if (imap) return `The test signs in to ${imap.host} without reading email.`;
  if (openai) return `The test lists the models of ${hostOf(openai.baseURL ?? 'https://api.openai.com')}.`;
  if (anthropic)
    return `The test lists the models of ${hostOf(anthropic.baseURL ?? 'https://api.anthropic.com')}.`;
  if (bot)
    return `The test asks ${bot.platform === 'slack' ? 'Slack' : 'Telegram'} which bot the token belongs to.`;
  if (s3) return `The test accesses the bucket ${s3.bucket} at ${hostOf(s3.endpoint)}.`;
  if (http?.checkURL !== undefined) return `The test requests ${http.checkURL}.`;
  return oauth2 && accountCheckDescription(oauth2);
}

function accountCheckDescription({
  imap,
  preset,
  userinfoURL,
}: NonNullable<CredentialSpec['oauth2']>): string | undefined {
  if (imap) return 'The test signs in to the mailbox.';
  const isNamed = preset === 'google' || (preset !== 'microsoft' && userinfoURL !== undefined);
  return isNamed ? 'The test asks the provider for the account name.' : undefined;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
