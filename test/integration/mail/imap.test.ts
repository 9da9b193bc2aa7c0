/**
 * Mail triggers by IMAP, against a real server: what is an event and what is not, and what each failure says.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ImapFlow } from 'imapflow';
import type { MailTrigger } from '../../../api/trigger.ts';
import type { PollContext, Polled } from '../../../nodes/contract/poller.ts';
import { IMAP_PASSWORD, startDovecot, type Dovecot } from '../../support/providers/mail/dovecot.ts';
import { pollMail } from '../../support/nodes/polls.ts';
import { startMeter } from '../../support/network/byteMeter.ts';

let server: Dovecot;
beforeAll(async () => {
  server = await startDovecot();
});
afterAll(() => server?.close());

let users = 0;

/** A user of its own for each test, and a client with which the test changes the mailbox. */
async function newUser(of: Dovecot = server): Promise<{ name: string; client: ImapFlow }> {
  const name = `user${(users += 1)}`;
  const client = await of.client(name);
  return { name, client };
}

type Account = { name: string; host?: string; port?: number; password?: string };

function poll(
  { name, host = '127.0.0.1', port = server.port, password = IMAP_PASSWORD }: Account,
  cursor: unknown,
  fields: Partial<MailTrigger> = {},
  { since, ...context }: Partial<PollContext> & { since?: Date } = {},
): Promise<Polled> {
  const passwordRef = { name: 'mail', key: 'password' };
  const spec = { imap: { host, port, tls: 'None', username: name, passwordRef } } as const;
  return pollMail(spec, { password }, { cursor, fields, context, since });
}

const mail = (subject: string, from = 'ada@example.com') =>
  `From: ${from}\r\nSubject: ${subject}\r\nMessage-ID: <${subject.length}@example.com>\r\n\r\nbody of ${subject}\r\n`;
const subjects = ({ events }: Polled) =>
  events.map(({ output }) => (output.data_content as { subject: string }).subject);
const numbered = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => `mail ${first + n}`);

/** All polls until nothing is left. */
async function pollOn(account: Account, cursor: unknown, fields: Partial<MailTrigger> = {}, context = {}) {
  const found: Polled[] = [];
  for (let next: Polled | undefined; !next || next.more; ) {
    next = await poll(account, next?.cursor ?? cursor, fields, context);
    found.push(next);
  }
  return { found, cursor: found.at(-1)?.cursor, subjects: found.flatMap(subjects) };
}

test('the first poll returns no events, and the next poll the mails since, with stable keys', async () => {
  const { name, client } = await newUser();
  await client.append('INBOX', mail('old'));
  const first = await poll({ name }, undefined);
  expect(first).toMatchObject({ events: [], more: false });
  await client.append('INBOX', mail('new'));
  const second = await poll({ name }, first.cursor);
  expect(subjects(second)).toEqual(['new']);
  expect(second.events[0]).toMatchObject({
    key: expect.stringMatching(/^[0-9a-f]{16}\/\d+\/2$/),
    output: {
      text_content: expect.stringContaining('body of new'),
      data_content: { from: 'ada@example.com' },
    },
  });
  expect(await poll({ name }, second.cursor)).toMatchObject({
    events: [],
    more: false,
    cursor: second.cursor,
  });
  expect((await poll({ name }, first.cursor)).events).toEqual(second.events);
  const [message] = await client.mailboxOpen('INBOX').then(() => client.fetchAll('2', { flags: true }));
  expect([...(message?.flags ?? [])]).not.toContain('\\Seen');
  await client.logout();
});

test('1,000 mails come oldest first, a hundred at a time, none twice and none left out', async () => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  for (const subject of numbered(1, 1_000)) await client.append('INBOX', mail(subject));
  const all = await pollOn({ name }, cursor);
  expect(all.found.map(({ events }) => events.length)).toEqual(Array.from({ length: 10 }, () => 100));
  expect(all.subjects).toEqual(numbered(1, 1_000));
  await client.logout();
});

test('a mailbox of 100,000 mails is never listed, and read page by page from a point in time, also where the server knows no ESEARCH', async () => {
  const large = await startDovecot({ oneFile: true, config: ['imap_capability = IMAP4rev1'] });
  large.fill('full', 100_000);
  const client = await large.client('full');
  const meter = await startMeter(large.port);
  const { cursor } = await poll({ name: 'full', port: meter.port }, undefined);
  await client.append('INBOX', mail('the newest'));
  const found = await poll({ name: 'full', port: meter.port }, cursor);
  expect(subjects(found)).toEqual(['the newest']);
  expect(found.events[0]?.key).toMatch(/\/100001$/);
  expect(meter.taken()).toBeLessThan(10_000);
  const since = new Date('2025-12-01T00:00:00Z');
  const begun = await poll({ name: 'full', port: meter.port }, undefined, {}, { since });
  const page = await poll({ name: 'full', port: meter.port }, begun.cursor);
  expect(subjects(page)).toEqual(numbered(1, 100));
  expect(meter.taken()).toBeLessThan(100_000);
  await meter.close();
  await client.logout();
  await large.close();
});

test('a mail of 50 MB is not fetched but for its texts and what is wanted of it', async () => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  const lines = (bytes: number) => `${'QUJD'.repeat(19)}\r\n`.repeat(Math.ceil(bytes / 57)).trimEnd();
  const file = (filename: string, bytes: number) =>
    `--b\r\nContent-Type: application/zip; name="${filename}"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(bytes)}\r\n`;
  const text = `--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n--c\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Grüße</p>\r\n--c--\r\n`;
  const source = `From: ada@example.com\r\nSubject: =?utf-8?q?gro=C3=9F?=\r\nDate: Fri, 2 Jan 2026 10:20:30 +0000\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${text}${file('large.zip', 38_000_000)}${file('small.zip', 570)}--b--\r\n`;
  expect(source.length).toBeGreaterThan(50_000_000);
  await client.append('INBOX', source);
  await client.append('INBOX', mail('after'));
  const meter = await startMeter(server.port);
  const found = await poll({ name, port: meter.port }, cursor, { attachments: 'Content' });
  expect(meter.taken()).toBeLessThan(20_000);
  expect(subjects(found)).toEqual(['groß', 'after']);
  const { output } = found.events[0]!;
  expect(output.text_content.trim()).toBe('Grüße');
  expect(output.data_content).toMatchObject({
    date: '2026-01-02T10:20:30.000Z',
    html: expect.stringContaining('<p>Grüße</p>'),
    truncated: false,
    attachments: [
      { filename: 'large.zip', content_type: 'application/zip' },
      { filename: 'small.zip', size: 570, content: Buffer.from('ABC'.repeat(190)).toString('base64') },
    ],
  });
  const [{ size = 0 } = {}] = (output.data_content as { attachments: { size?: number }[] }).attachments;
  expect(Math.abs(size - 38_000_000)).toBeLessThan(100);
  await meter.close();
  await client.logout();
});

test.each([300_000, 1_200_000])(
  'a file beside one of %i bytes comes whole, in however many pieces',
  async (beside) => {
    const { name, client } = await newUser();
    const { cursor } = await poll({ name }, undefined);
    const wanted = randomBytes(300_000);
    const file = (bytes: Buffer) =>
      `--b\r\nContent-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n`;
    const parts = `${file(Buffer.alloc(beside))}${file(wanted)}`;
    await client.append('INBOX', `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`);
    const context = { maxEventBytes: 2_097_152 };
    const fields = { attachments: 'Content', maxAttachmentBytes: 300_000 } as const;
    const { events } = await poll({ name }, cursor, fields, context);
    const { attachments } = events[0]!.output.data_content as { attachments: { content?: string }[] };
    expect(attachments[1]?.content).toBe(wanted.toString('base64'));
    await client.logout();
  },
);

test('a text of 5 MB is cut with a mark, and no more of it is fetched than that', async () => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  await client.append('INBOX', `Subject: long\r\n\r\n${'a line of text\r\n'.repeat(320_000)}`);
  const meter = await startMeter(server.port);
  const found = await poll({ name, port: meter.port }, cursor);
  expect(meter.taken()).toBeLessThan(1_200_000);
  const { output } = found.events[0]!;
  expect(output.data_content).toMatchObject({ subject: 'long', truncated: true });
  expect(output.text_content).toMatch(/^a line of text[\s\S]*…$/);
  expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThanOrEqual(524_288);
  await meter.close();
  await client.logout();
});

test('a mail of 100,000 lines is read like every other, in whatever transfer encoding', async () => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  const type = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ';
  await client.append(
    'INBOX',
    `${type}quoted-printable\r\n\r\nGr=C3=BC=C3=\r\n=9Fe${'=  \r\n'.repeat(100_000)} a=3Db =ZZ\r\n`,
  );
  await client.append('INBOX', `${type}8bit\r\n\r\nGrüße${'\r\n'.repeat(100_000)}end`);
  await client.append(
    'INBOX',
    `${type}base64\r\n\r\n${'R3L8\r\n'.repeat(2)}${Buffer.from('ende').toString('base64')}${'\r\n'.repeat(30_000)}`,
  );
  const texts = (await poll({ name }, cursor)).events.map(({ output }) => output.text_content.trim());
  expect(texts[0]).toBe('Grüße a=b =ZZ');
  expect(texts[1]).toMatch(/^Grüße\n{100000}end$/);
  expect(texts[2]).toMatch(/ende$/);
  await client.logout();
});

test.each<[string, string]>([
  [
    'of 300,000 parts',
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(300_000)}--b--\r\n`,
  ],
  [
    'with parts in parts, 10,000 deep',
    `${Array.from({ length: 10_000 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`).join('')}\r\nend`,
  ],
  ['with a header line of 7 MB', `X-Long: ${'x'.repeat(7_000_000)}\r\n\r\nend`],
])('a mail %s is an event, and holds up none behind it', async (_what, source) => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  await client.append('INBOX', mail('before'));
  await client.append('INBOX', `Subject: hostile\r\n${source}`);
  await client.append('INBOX', mail('after'));
  const all = await pollOn({ name }, cursor);
  expect(all.subjects).toEqual(['before', 'hostile', 'after']);
  const marks = all.found.flatMap(({ events }) => events.map(({ output }) => output.data_content));
  expect(marks).toMatchObject([{ truncated: false }, { truncated: true }, { truncated: false }]);
  const filtered = await pollOn({ name }, cursor, { subject: 'after' });
  expect(filtered.subjects).toEqual(['after']);
  await client.logout();
});

test('mails that were removed or moved away are no events; those that were moved in are', async () => {
  const { name, client } = await newUser();
  await client.mailboxCreate('Other');
  const { cursor } = await poll({ name }, undefined);
  for (const subject of ['removed', 'moved away', 'stays']) await client.append('INBOX', mail(subject));
  await client.mailboxOpen('INBOX');
  await client.messageDelete('1');
  await client.messageMove('1', 'Other');
  const second = await poll({ name }, cursor);
  expect(subjects(second)).toEqual(['stays']);
  await client.mailboxOpen('Other');
  await client.messageMove('1', 'INBOX');
  expect(subjects(await poll({ name }, second.cursor))).toEqual(['moved away']);
  await client.logout();
});

test('when the server has renumbered the mails, the cursor is void and no run starts', async () => {
  const { name, client } = await newUser();
  await client.mailboxCreate('Orders');
  await client.append('Orders', mail('one'));
  const { cursor } = await poll({ name }, undefined, { mailbox: 'Orders' });
  await client.mailboxDelete('Orders');
  await client.mailboxCreate('Orders');
  await client.append('Orders', mail('two'));
  const second = await poll({ name }, cursor, { mailbox: 'Orders' });
  expect(second).toMatchObject({
    events: [],
    more: false,
    baselineLost: expect.stringContaining('UIDVALIDITY'),
  });
  await client.append('Orders', mail('three'));
  expect(subjects(await poll({ name }, second.cursor, { mailbox: 'Orders' }))).toEqual(['three']);
  await client.logout();
});

test('a place is that of one mailbox of one account, and its mails have it in their keys', async () => {
  const { name, client } = await newUser();
  const other = await newUser();
  await client.mailboxCreate('Orders');
  const { cursor } = await poll({ name }, undefined);
  const elsewhere: [Account, Partial<MailTrigger>][] = [
    [{ name: other.name }, {}],
    [{ name, host: 'localhost' }, {}],
    [{ name }, { mailbox: 'Orders' }],
  ];
  const places = new Set([placeIn(cursor)]);
  for (const [account, fields] of elsewhere) {
    const lost = await poll(account, cursor, fields);
    expect(lost.baselineLost).toContain('another account or mailbox');
    places.add(placeIn(lost.cursor));
  }
  expect(places.size).toBe(4);
  await client.append('INBOX', mail('new'));
  const { events } = await poll({ name }, cursor);
  expect(events.map(({ key }) => key.split('/')[0])).toEqual([placeIn(cursor)]);
  await client.logout();
  await other.client.logout();
});

const placeIn = (cursor: unknown) => (cursor as { place: string }).place;

test.each([
  ['of another account', { place: '0123456789abcdef', uidValidity: '1', uid: 0 }],
  ['that cannot be read', { some: 'thing' }],
  ['that is no object', 'x'],
])('a place %s is lost, and says why', async (_what, cursor) => {
  const { name, client } = await newUser();
  await client.append('INBOX', mail('one'));
  expect(await poll({ name }, cursor)).toMatchObject({ events: [], baselineLost: expect.any(String) });
  await client.logout();
});

test('sender and subject are compared whatever the case of the letters, and what was read already does not count where it must not', async () => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  await client.append('INBOX', mail('=?utf-8?q?Bestellung_GR=C3=9CN?=', '"Ada L." <ada@shop.example>'));
  await client.append('INBOX', mail('Bestellung grün', 'eve@else.example'));
  await client.append('INBOX', mail('=?utf-8?q?gr=C3=BCn_gesehen?=', 'bo@shop.example'), ['\\Seen']);
  const wanted = { from: '@SHOP.example', subject: 'grün' };
  const found = await poll({ name }, cursor, wanted);
  expect(subjects(found)).toEqual(['Bestellung GRÜN', 'grün gesehen']);
  expect(subjects(await poll({ name }, cursor, { ...wanted, unseenOnly: true }))).toEqual([
    'Bestellung GRÜN',
  ]);
  expect((await poll({ name }, found.cursor, wanted)).events).toEqual([]);
  await client.logout();
});

test('a first poll from a point in time returns the mails since then', async () => {
  const { name, client } = await newUser();
  const day = (n: number, hour = 12) => new Date(Date.UTC(2026, 0, n, hour));
  for (const n of [1, 2, 3, 4]) await client.append('INBOX', mail(`mail ${n}`), [], day(n));
  const all = await pollOn({ name }, undefined, {}, { since: day(2, 13) });
  expect(all.subjects).toEqual(['mail 3', 'mail 4']);
  await client.append('INBOX', mail('moved in'), [], day(1));
  expect(subjects(await poll({ name }, all.cursor))).toEqual(['moved in']);
  await client.logout();
});

test('a wrong password, a mailbox that is not there and a server that is away each say so, without the password', async () => {
  const { name, client } = await newUser();
  const errors = await Promise.all(
    [
      poll({ name, password: 'wrong password' }, undefined),
      poll({ name }, undefined, { mailbox: 'Réclamations' }),
      poll({ name, port: 1 }, undefined),
    ].map((polling) => polling.catch((error: unknown) => error)),
  );
  expect(errors).toMatchObject([
    {
      reason: 'Rejected',
      message: expect.stringContaining('the login was refused by the mail server 127.0.0.1'),
    },
    { reason: 'MailboxMissing', message: expect.stringContaining('no mailbox named Réclamations') },
    {
      reason: 'Unreachable',
      message: expect.stringContaining('cannot connect to the mail server 127.0.0.1'),
    },
  ]);
  expect(JSON.stringify(errors.map(String))).not.toMatch(/wrong password|correct-horse/);
  await client.logout();
});

test('a server that breaks off in the middle is unreachable, what was read before counts, and it heals by itself', async () => {
  const { name, client } = await newUser();
  const { cursor } = await poll({ name }, undefined);
  for (const subject of numbered(1, 20))
    await client.append('INBOX', `${mail(subject)}${'x'.repeat(70)}\r\n`.repeat(20));
  const meter = await startMeter(server.port);
  meter.endAfter(1_500);
  await expect(poll({ name, port: meter.port }, cursor)).rejects.toMatchObject({ reason: 'Unreachable' });
  meter.endAfter(30_000);
  const all = await pollOn({ name, port: meter.port }, cursor);
  expect(all.found.length).toBeGreaterThan(1);
  expect(all.subjects).toEqual(numbered(1, 20));
  await meter.close();
  await client.logout();
});

test('the host of the account is judged like that of every step', async () => {
  const { parseEgressRules } = await import('../../../nodes/egress/rules.ts');
  const { createEgress } = await import('../../../nodes/egress/egress.ts');
  const egress = createEgress(parseEgressRules([], []));
  await expect(poll({ name: 'user1' }, undefined, {}, { egress })).rejects.toMatchObject({
    reason: 'AddressForbidden',
  });
});

test('a server that knows the protocol of 1996 and nothing more is read, too', async () => {
  const plain = await startDovecot({ config: ['imap_capability = IMAP4rev1'] });
  const { name, client } = await newUser(plain);
  const { cursor } = await poll({ name, port: plain.port }, undefined);
  for (const subject of numbered(1, 3)) await client.append('INBOX', mail(subject));
  expect(subjects(await poll({ name, port: plain.port }, cursor))).toEqual(numbered(1, 3));
  const since = await pollOn({ name, port: plain.port }, undefined, {}, { since: new Date(0) });
  expect(since.subjects).toEqual(numbered(1, 3));
  await client.logout();
  await plain.close();
});
