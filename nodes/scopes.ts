/**
 * Which rights of an account the parts of workflows need, so that connecting a credential asks for what its workflows use. A new
 * trigger or skill that uses an oauth2 credential is one line here.
 */
import type { CredentialSpec } from '../api/credential.ts';
import type { Preset } from '../api/provider.ts';
import { kindOf, type WorkflowNode } from '../api/workflow.ts';

/** By preset, and of Google apart where mail is read by IMAP; of a custom provider nothing is known. */
export type Scopes = Partial<Record<Preset | 'googleImap', readonly string[]>>;

// https://developers.google.com/workspace/gmail/api/auth/scopes
const GMAIL_READ = 'https://www.googleapis.com/auth/gmail.readonly';
const GMAIL_SEND = 'https://www.googleapis.com/auth/gmail.send';
// https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
const GMAIL_ALL = 'https://mail.google.com/';
// https://learn.microsoft.com/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth
const OUTLOOK_IMAP = 'https://outlook.office.com/IMAP.AccessAsUser.All';
const OUTLOOK_SMTP = 'https://outlook.office.com/SMTP.Send';

/** By the kind of a trigger. */
const BY_TRIGGER: Readonly<Record<string, Scopes>> = {
  mail: { google: [GMAIL_READ], googleImap: [GMAIL_ALL], microsoft: [OUTLOOK_IMAP] },
};

/** By the name of a skill. */
const BY_SKILL: Readonly<Record<string, Scopes>> = {
  send_email: { google: [GMAIL_SEND], microsoft: [OUTLOOK_SMTP] },
  reply_email: { google: [GMAIL_SEND], microsoft: [OUTLOOK_SMTP] },
};

/** What of an account the node needs; undefined where nothing is known. */
export function scopesOf(node: WorkflowNode): Scopes | undefined {
  return node.skill ? BY_SKILL[node.skill.name] : BY_TRIGGER[kindOf(node)];
}

/** Those that an account like that must have given. */
export function scopesFor(scopes: Scopes | undefined, { oauth2 }: CredentialSpec): readonly string[] {
  const { preset = 'custom', imap } = oauth2 ?? {};
  const byImap = preset === 'google' && imap ? scopes?.googleImap : undefined;
  return byImap ?? scopes?.[preset] ?? [];
}
