/** The category of each skill in the gallery, and the services that it works with. */

/** The services that a node works with, which have an icon each. */
export type Brand =
  | 'OpenAI'
  | 'Anthropic'
  | 'Gmail'
  | 'Outlook'
  | 'Telegram'
  | 'Slack'
  | 'Google Sheets'
  | 'Google Drive'
  | 'OneDrive'
  | 'Amazon S3';

export const TABLES: readonly Brand[] = ['Google Sheets'];
export const STORES: readonly Brand[] = ['Amazon S3', 'Google Drive'];
export const MAILBOXES: readonly Brand[] = ['Gmail', 'Outlook'];
export const MESSENGERS: readonly Brand[] = ['Telegram', 'Slack'];

/** By the name of the skill. */
export const SKILL_CATEGORIES: Record<string, { category: string; brands?: readonly Brand[] }> = {
  send_email: { category: 'Messages', brands: MAILBOXES },
  reply_email: { category: 'Messages', brands: MAILBOXES },
  send_message: { category: 'Messages', brands: MESSENGERS },
  http_request: { category: 'Web' },
  set: { category: 'Data' },
  remove_duplicates: { category: 'Data' },
  read_rows: { category: 'Sheets and files', brands: TABLES },
  append_row: { category: 'Sheets and files', brands: TABLES },
  update_row: { category: 'Sheets and files', brands: TABLES },
  upload_file: { category: 'Sheets and files', brands: STORES },
  download_file: { category: 'Sheets and files', brands: STORES },
};
