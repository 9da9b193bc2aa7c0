/** The examples of spreadsheets: one that starts with a new row, and one that ends with one. */
import { addRow, rowsOf } from '../support/installation/demoGoogle.ts';
import { putInBucket } from '../support/installation/demoBucket.ts';
import { receivedMails } from '../support/installation/demoMailbox.ts';
import type { Rows } from '../support/providers/google/sheet.ts';
import { showMail } from './mails.ts';
import { runNames, showRun, type Demo } from './runs.ts';

/** A poll each half minute, a minute and what a pod takes where one has just ended. */
const POLL_MS = 120_000;

/**
 * Adds a row to the spreadsheet that is watched; shows the run that it starts, and the mail that goes out.
 */
export async function showRowMail(demo: Demo): Promise<void> {
  const { cluster, tell } = demo;
  const [before, mails] = await Promise.all([runNames(demo, 'row-mail'), receivedMails(cluster)]);
  const rows = await rowsOf(cluster, 'orders');
  const row = [`A-${1_000 + rows.length}`, 'Ada', 'ada@example.com', 'lamp', 2];
  tell();
  tell('somebody adds a row to the spreadsheet orders, which is polled every 30 seconds:');
  for (const each of [rows[0] ?? [], row]) tell(lineOf(each));
  await addRow(cluster, 'orders', row);
  await showRun(demo, 'row-mail', { before, timeoutMs: POLL_MS });
  const isNew = (index: number) => index >= mails.length;
  await showMail(cluster, tell, ({ subject }, index) => isNew(index) && subject === `Your order ${row[0]}`);
}

/**
 * Puts a letter into the folder that is watched; shows the run that it starts, and the rows of the
 * spreadsheet.
 */
export async function showFileRows(demo: Demo): Promise<void> {
  const { cluster, tell } = demo;
  const before = await runNames(demo, 'file-rows');
  const key = `inbox/letter-${(await rowsOf(cluster, 'letters')).length}.txt`;
  const text = 'Dear shop, the lamp that came yesterday has no bulb. Please send one. Ada';
  tell();
  tell(`a file comes into the bucket letters, whose folder inbox is polled every 30 seconds: ${key}`);
  tell(`  ${text}`);
  await putInBucket(cluster, key, `${text}\n`);
  await showRun(demo, 'file-rows', { before, timeoutMs: POLL_MS });
  tell();
  tell('the spreadsheet letters:');
  for (const row of await rowsOf(cluster, 'letters')) tell(lineOf(row));
}

function lineOf(row: Rows[number]): string {
  const shown = row.map((cell) =>
    cell !== null && typeof cell === 'object' ? cell.formatted : (cell ?? ''),
  );
  return `  ${shown.join(' | ')}`;
}
