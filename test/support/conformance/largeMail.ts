/**
 * Mails that are about as large as an event may be, and one that is larger than a poll pod should ever hold.
 */

const MIB = 2 ** 20;
/** Of one attachment, as much as the trigger takes by default. */
const ATTACHED = MIB / 4;
const HUGE = 8 * MIB;
/** Several pages. */
export const LARGE_MAILS = 40;

/** One after the other, since together they are large for a test, too. */
export function* largeMails(): Generator<Buffer> {
  for (let number = 1; number < LARGE_MAILS; number += 1) yield mailWith(number, ATTACHED);
  yield mailWith(LARGE_MAILS, HUGE);
}

function mailWith(number: number, bytes: number): Buffer {
  const content = Buffer.alloc(bytes, `content of mail ${number} `).toString('base64');
  const lines = [
    'From: ada@example.com',
    `Subject: mail ${number}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    `text of mail ${number}`,
    '--part',
    'Content-Type: application/octet-stream; name=data.bin',
    'Content-Disposition: attachment; filename=data.bin',
    'Content-Transfer-Encoding: base64',
    '',
    content.replaceAll(/.{76}/g, '$&\r\n'),
    '--part--',
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}
