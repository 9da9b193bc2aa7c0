/** Google: Gmail, Drive and Sheets by their APIs, and the scopes that they need. */
import type { Provider } from '../../contract/provider.ts';

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
/** Files that Windlass created itself. */
const DRIVE_FILE = 'https://www.googleapis.com/auth/drive.file';
const DRIVE_READ = 'https://www.googleapis.com/auth/drive.readonly';
const DRIVE_METADATA = 'https://www.googleapis.com/auth/drive.metadata.readonly';

/** Google's accounts; also those of another provider whose `apiURL` speaks Google's APIs. */
export const google: Provider = {
  credentials: ['oauth2'],
  title: 'kind oauth2 with the preset google',
  serves: ({ oauth2 }) =>
    oauth2?.preset === 'google' || (oauth2?.preset !== 'microsoft' && oauth2?.apiURL !== undefined),
  files: async () => (await import('./driveSource.ts')).driveSource,
  store: async () => (await import('./driveStore.ts')).driveStore,
  spreadsheet: async () => (await import('./book.ts')).openGoogleBook,
  mail: async () => (await import('./gmailPoller.ts')).pollGmail,
  oauth2: {
    preset: 'google',
    scopes: {
      mail: [GMAIL_READ],
      mailByImap: [GMAIL_ALL],
      fileStorage: [DRIVE_METADATA],
      spreadsheet: [SHEETS_READ, DRIVE_METADATA],
      spreadsheetByURL: [SHEETS_READ, DRIVE_METADATA],
      send_email: [GMAIL_SEND],
      reply_email: [GMAIL_SEND],
      read_rows: [SHEETS_READ],
      append_row: [SHEETS],
      update_row: [SHEETS],
      upload_file: [DRIVE],
      upload_file_new: [DRIVE_FILE],
      download_file: [DRIVE_READ],
    },
  },
};
