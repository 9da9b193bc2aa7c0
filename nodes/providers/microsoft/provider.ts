/** Microsoft: OneDrive and Excel by Microsoft Graph, and the scopes that they and Outlook need. */
import type { Provider } from '../../contract/provider.ts';

// https://learn.microsoft.com/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth
const OUTLOOK_IMAP = 'https://outlook.office.com/IMAP.AccessAsUser.All';
const OUTLOOK_SMTP = 'https://outlook.office.com/SMTP.Send';
// https://learn.microsoft.com/graph/api/driveitem-delta,
// https://learn.microsoft.com/graph/api/resources/excel#authorization-and-scopes
const ONEDRIVE_READ = 'https://graph.microsoft.com/Files.Read';
/** Also files in SharePoint sites and in the OneDrives of others that the account may see. */
const SHARED_READ = 'https://graph.microsoft.com/Files.Read.All';

export const microsoft: Provider = {
  credentials: ['oauth2'],
  title: 'kind oauth2 with the preset microsoft',
  serves: ({ oauth2 }) => oauth2?.preset === 'microsoft',
  files: async () => (await import('./oneDriveSource.ts')).oneDriveSource,
  spreadsheet: async () => (await import('./excel.ts')).openExcelBook,
  oauth2: {
    preset: 'microsoft',
    scopes: {
      mail: [OUTLOOK_IMAP],
      fileStorage: [ONEDRIVE_READ],
      spreadsheet: [ONEDRIVE_READ],
      // The URL does not tell whose spreadsheet it is.
      spreadsheetByURL: [SHARED_READ],
      send_email: [OUTLOOK_SMTP],
      reply_email: [OUTLOOK_SMTP],
    },
  },
};
