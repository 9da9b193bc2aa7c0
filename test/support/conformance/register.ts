/** The providers that the conformance suite knows. A new one is a file and a line here. */
import { driveDriver } from './drive.ts';
import { excelDriver } from './excel.ts';
import { gmailDriver } from './gmail.ts';
import { imapDriver, imapTokenDriver } from './imap.ts';
import { oneDriveDriver } from './oneDrive.ts';
import type { Driver } from './provider.ts';
import { s3Driver } from './s3.ts';
import { sheetsDriver } from './sheets.ts';

export const DRIVERS: readonly Driver[] = [
  imapDriver,
  imapTokenDriver,
  gmailDriver,
  sheetsDriver,
  excelDriver,
  driveDriver,
  oneDriveDriver,
  s3Driver,
];
