/**
 * Which rights of an account the parts of workflows need, so that connecting a credential asks for what its workflows use. A new
 * trigger or skill that uses an oauth2 credential is one line here.
 */
import type { CredentialSpec } from '../api/credential.ts';
import type { Preset } from '../api/provider.ts';
import type { SkillStep } from '../api/step.ts';
import { kindOf, type WorkflowNode } from '../api/workflow.ts';

/** By preset, and of Google apart where mail is read by IMAP; of a custom provider nothing is known. */
export type Scopes = Partial<Record<Preset | 'googleImap', readonly string[]>>;

// https://developers.google.com/workspace/gmail/api/auth/scopes
const GMAIL_READ = 'https://www.googleapis.com/auth/gmail.readonly';
const GMAIL_SEND = 'https://www.googleapis.com/auth/gmail.send';
// https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
const GMAIL_ALL = 'https://mail.google.com/';
// https://developers.google.com/workspace/sheets/api/scopes
const SHEETS = 'https://www.googleapis.com/auth/spreadsheets';
const SHEETS_READ = 'https://www.googleapis.com/auth/spreadsheets.readonly';
// https://developers.google.com/workspace/drive/api/guides/api-specific-auth
const DRIVE = 'https://www.googleapis.com/auth/drive';
/** Files that Windlass has created itself. */
const DRIVE_FILE = 'https://www.googleapis.com/auth/drive.file';
const DRIVE_READ = 'https://www.googleapis.com/auth/drive.readonly';
const DRIVE_METADATA = 'https://www.googleapis.com/auth/drive.metadata.readonly';
// https://learn.microsoft.com/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth
const OUTLOOK_IMAP = 'https://outlook.office.com/IMAP.AccessAsUser.All';
const OUTLOOK_SMTP = 'https://outlook.office.com/SMTP.Send';
// https://learn.microsoft.com/graph/api/driveitem-delta, https://learn.microsoft.com/graph/api/resources/excel#authorization-and-scopes
const ONEDRIVE_READ = 'https://graph.microsoft.com/Files.Read';
/** Also what lies in SharePoint sites and the OneDrives of others, as far as the account may see it. */
const SHARED_READ = 'https://graph.microsoft.com/Files.Read.All';

/** By the kind of a trigger; of a spreadsheet that is named by a URL it is not known whose it is. */
const BY_TRIGGER: Readonly<Record<string, Scopes>> = {
  mail: { google: [GMAIL_READ], googleImap: [GMAIL_ALL], microsoft: [OUTLOOK_IMAP] },
  fileStorage: { google: [DRIVE_METADATA], microsoft: [ONEDRIVE_READ] },
  spreadsheet: { google: [SHEETS_READ, DRIVE_METADATA], microsoft: [ONEDRIVE_READ] },
  spreadsheetByURL: { google: [SHEETS_READ, DRIVE_METADATA], microsoft: [SHARED_READ] },
};

/** By the name of a skill; of an upload apart where it meets only files of its own. */
const BY_SKILL: Readonly<Record<string, Scopes>> = {
  send_email: { google: [GMAIL_SEND], microsoft: [OUTLOOK_SMTP] },
  reply_email: { google: [GMAIL_SEND], microsoft: [OUTLOOK_SMTP] },
  read_rows: { google: [SHEETS_READ] },
  append_row: { google: [SHEETS] },
  update_row: { google: [SHEETS] },
  upload_file: { google: [DRIVE] },
  upload_file_anew: { google: [DRIVE_FILE] },
  download_file: { google: [DRIVE_READ] },
};

/** What of an account the node needs; undefined where nothing is known. */
export function scopesOf(node: WorkflowNode): Scopes | undefined {
  if (node.skill) return BY_SKILL[addsOnly(node.skill) ? 'upload_file_anew' : node.skill.name];
  return BY_TRIGGER[isURL(node.spreadsheet?.spreadsheetId) ? 'spreadsheetByURL' : kindOf(node)];
}

/**
 * Whether the step adds new files to the top of the drive and nothing else. With the narrow right Google shows neither a folder that somebody
 * else has made nor a file that is to be replaced.
 */
function addsOnly({ name, parameters: { folderId = '', overwrite = false } = {} }: SkillStep): boolean {
  return name === 'upload_file' && folderId === '' && overwrite === false;
}

const isURL = (name = ''): boolean => name.includes('://');

/** Those that an account like that must have given. */
export function scopesFor(scopes: Scopes | undefined, { oauth2 }: CredentialSpec): readonly string[] {
  const { preset = 'custom', imap } = oauth2 ?? {};
  const byImap = preset === 'google' && imap ? scopes?.googleImap : undefined;
  return byImap ?? scopes?.[preset] ?? [];
}
