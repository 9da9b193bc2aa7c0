/**
 * Mail triggers at IMAP servers that do what real ones do at odd moments, or mean harm. What a real one does
 * as a rule: test/integration/mail.
 */
import { afterEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import type { MailTrigger } from '../../../api/trigger.ts';
import {
  literal,
  opened,
  startImapScript,
  type ImapAnswer,
  type ImapScript,
} from '../../../test/support/providers/mail/imapScript.ts';
import { pollMail } from '../../../test/support/nodes/polls.ts';
import type { PollContext, Polled } from '../../contract/poller.ts';

let server: ImapScript;
afterEach(() => server.close());

type Odd = (command: string) => ImapAnswer | undefined;

const MAILS = 3;
const sourceOf = (uid: string) =>
  `From: ada@example.com\r\nSubject: mail ${uid}\r\n\r\nbody of mail ${uid}\r\n`;

/** A mailbox of three mails, whose server answers some commands otherwise. */
async function start(odd: Odd, mails = MAILS): Promise<void> {
  server = await startImapScript((command) => odd(command) ?? answerOf(command, mails));
}

function answerOf(command: string, mails: number): ImapAnswer | undefined {
  if (command.startsWith('EXAMINE')) return opened(mails);
  const [, first = 0, last = 0] = /^UID SEARCH UID (\d+):(\d+)/.exec(command) ?? [];
  if (first) return { lines: [`* SEARCH ${range(Number(first), Number(last)).join(' ')}\r\n`] };
  const [, uids = '', query = ''] = /^UID FETCH (\S+) \(?(.+?)\)?$/.exec(command) ?? [];
  return uids ? { lines: uids.split(',').map((uid) => fetched(uid, query)) } : undefined;
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

function fetched(uid: string, query: string): string {
  const source = sourceOf(uid);
  const header = `${source.split('\r\n\r\n')[0]}\r\n\r\n`;
  const items = [
    `UID ${uid}`,
    ...(query.includes('SIZE') ? [`RFC822.SIZE ${source.length}`] : []),
    ...(query.includes('DATE') ? ['INTERNALDATE "02-Jan-2026 10:20:30 +0000"'] : []),
    ...(query.includes('[HEADER]') ? [`BODY[HEADER]<0> ${literal(header)}`] : []),
    ...(query.includes('PEEK[]') ? [`BODY[]<0> ${literal(source)}`] : []),
    ...(query.includes('[TEXT]') ? [`BODY[TEXT]<0> ${literal(`body of mail ${uid}`)}`] : []),
    ...(query.includes('STRUCTURE')
      ? ['BODYSTRUCTURE ("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "7BIT" 14 1)']
      : []),
  ];
  return `* ${uid} FETCH (${items.join(' ')})\r\n`;
}

const passwordRef = { name: 'mail', key: 'password' };

function poll(
  cursor: unknown,
  fields: Partial<MailTrigger> = {},
  context: Partial<PollContext> = {},
): Promise<Polled> {
  const { port } = server;
  const imap = { host: '127.0.0.1', port, tls: 'None', username: 'ada', passwordRef } as const;
  return pollMail({ imap }, { password: 'secret' }, { cursor, fields, context });
}

/** The place at which nothing was seen yet. */
async function beginning(): Promise<object> {
  const { cursor } = await poll(undefined);
  return { ...(cursor as object), uid: 0 };
}

const subjects = ({ events }: Polled) =>
  events.map(({ output }) => (output.data_content as { subject: string }).subject);
const all = ['mail 1', 'mail 2', 'mail 3'];

test('a server that answers as the protocol has it is read', async () => {
  await start(() => undefined);
  const { events, cursor, more } = await poll(await beginning());
  expect(subjects({ events, cursor, more })).toEqual(all);
  expect(events[0]?.output.text_content.trim()).toBe('body of mail 1');
  expect({ cursor, more }).toMatchObject({ cursor: { uid: 3 }, more: false });
});

test.each([
  ['with its UID', '* 1 FETCH (UID 1 FLAGS (\\Seen))\r\n'],
  ['without its UID', '* 1 FETCH (FLAGS (\\Seen))\r\n'],
])(
  'a mail that somebody reads in that moment (%s) is neither new nor taken for another',
  async (_what, said) => {
    await start((command) => {
      if (!command.startsWith('UID FETCH')) return undefined;
      const { lines = [] } = answerOf(command, MAILS) ?? {};
      return { lines: [said, ...lines, said] };
    });
    const from = { ...(await beginning()), uid: 1 };
    for (const fields of [{}, { subject: 'mail' }]) {
      const found = await poll(from, fields);
      expect(subjects(found)).toEqual(['mail 2', 'mail 3']);
      expect(found.cursor).toMatchObject({ uid: 3 });
    }
  },
);

const isWhole = (command: string) => command.includes('PEEK[]');
const isOfSecond = (command: string) => command.startsWith('UID FETCH 2 ');

test.each<[string, Odd]>([
  [
    'gives nothing',
    (command) => (isWhole(command) ? { lines: ['* 2 FETCH (UID 2 BODY[]<0> NIL)\r\n'] } : undefined),
  ],
  ['refuses', (command) => (isWhole(command) ? { end: 'NO cannot convert the message' } : undefined)],
])('where the server %s instead of a mail, the mail is read in pieces', async (_what, odd) => {
  await start((command) => (isOfSecond(command) ? odd(command) : undefined));
  const found = await poll(await beginning());
  expect(subjects(found)).toEqual(all);
  expect(found.events[1]?.output).toMatchObject({
    text_content: 'body of mail 2',
    data_content: { truncated: false },
  });
});

test.each<[string, string]>([
  ['what it consists of', 'BODYSTRUCTURE'],
  ['its text', '[TEXT]'],
])('of a mail of which the server refuses %s, too, the header is brought, marked', async (_what, refused) => {
  await start((command) =>
    isOfSecond(command) && (isWhole(command) || command.includes(refused)) ? { end: 'NO cannot' } : undefined,
  );
  const found = await poll(await beginning());
  expect(subjects(found)).toEqual(all);
  expect(found.events[1]?.output).toMatchObject({ text_content: '', data_content: { truncated: true } });
});

test('of a mail of which the server gives nothing at all the failure says which one it is', async () => {
  await start((command) => (isOfSecond(command) ? { end: 'NO [SERVERBUG] cannot' } : undefined));
  const first = await poll(await beginning());
  expect({ subjects: subjects(first), more: first.more }).toEqual({ subjects: ['mail 1'], more: true });
  await expect(poll(first.cursor)).rejects.toMatchObject({
    reason: 'UpstreamError',
    message: expect.stringContaining('does not give the mail with UID 2: cannot'),
  });
});

test('a server that refuses for the moment is asked for the whole mail again', async () => {
  await start((command) => (isWhole(command) ? { end: 'NO [INUSE] try again' } : undefined));
  await expect(poll(await beginning())).rejects.toMatchObject({ reason: 'RateLimited' });
});

test.each(['NO [UNAVAILABLE] Temporary failure', 'NO [INUSE] Mailbox is in use, try again'])(
  'a mailbox that cannot be opened for the moment (%s) is not missing',
  async (end) => {
    await start((command) => (command.startsWith('EXAMINE') ? { end } : undefined));
    await expect(poll(undefined)).rejects.toMatchObject({ reason: 'RateLimited' });
  },
);

test('a poll ends with what it has when it is enough, also while a mail does not come, but never without having got further', async () => {
  let enough = new AbortController();
  const context = () => ({ enough: enough.signal });
  await start((command) => {
    if (!isOfSecond(command) || !isWhole(command)) return undefined;
    enough.abort();
    return { end: null };
  });
  const from = await beginning();
  const first = await poll(from, {}, context());
  expect({ subjects: subjects(first), more: first.more }).toEqual({ subjects: ['mail 1'], more: true });
  await server.close();
  await start(() => undefined);
  const second = await poll(first.cursor, {}, context());
  expect({ subjects: subjects(second), more: second.more }).toEqual({ subjects: ['mail 2'], more: true });
  enough = new AbortController();
  expect(subjects(await poll(second.cursor, {}, context()))).toEqual(['mail 3']);
});

test('mail that was checked before a failure is not read again, also if none of it was wanted', async () => {
  await start((command) => (command.startsWith('UID FETCH 51,') ? { end: 'NO cannot' } : undefined), 60);
  const found = await poll(await beginning(), { subject: 'something else' });
  expect(found).toMatchObject({ events: [], cursor: { uid: 50 }, more: true });
  await expect(poll(found.cursor, { subject: 'something else' })).rejects.toMatchObject({
    reason: 'UpstreamError',
  });
});

function* endless(text: string): Generator<string> {
  for (;;) yield text;
}

const LONG = 'x'.repeat(100_000);

test.each<[string, string, Iterable<string>]>([
  ['names mails', 'UID SEARCH', endless(`* SEARCH ${LONG.replaceAll('x', '123456789 ')}\r\n`)],
  ['speaks of a mail', 'UID FETCH', endless(`* 1 FETCH (UID 1 BODY[] ${literal(LONG)})\r\n`)],
  ['speaks of other mails', 'UID FETCH', endless(`* 9 FETCH (UID 9 BODY[] ${literal(LONG)})\r\n`)],
  ['speaks of nothing', 'EXAMINE', endless(`* OK ${LONG}\r\n`)],
  ['lists mailboxes', 'LIST', endless(`* LIST () "/" "${LONG}"\r\n`)],
  ['says what it can', 'CAPABILITY', endless(`* CAPABILITY IMAP4rev1 ${LONG}\r\n`)],
  ['sends a line', 'UID FETCH', endless(LONG)],
  ['sends pieces of one answer', 'UID FETCH', endless(literal(LONG))],
  ['announces a gigabyte', 'UID FETCH', ['* 1 FETCH (UID 1 BODY[] {1000000000}\r\n', LONG]],
])('a server that %s without end (%s) is left', async (_what, command, lines) => {
  await start((given) => (given.startsWith(command) ? { lines, end: null } : undefined));
  const cursor = command.startsWith('UID') ? await beginning() : undefined;
  await expect(poll(cursor)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test('a search that is answered with a range of millions takes no room', async () => {
  const lines = ['* 16777215 EXISTS\r\n', '* ESEARCH (TAG "x") UID ALL 1:16777215\r\n'];
  await start((command) => (command.startsWith('UID SEARCH') ? { lines } : undefined));
  const from = await beginning();
  const before = process.resourceUsage().maxRSS;
  expect(subjects(await poll(from))).toEqual(all);
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(50_000);
});

test.each(['CAPABILITY', 'LOGIN', 'EXAMINE', 'UID SEARCH', 'UID FETCH 1,2', 'UID FETCH 1 '])(
  'a server that says nothing to %s is left at the deadline',
  async (silent) => {
    const deadline = new AbortController();
    const isUid = silent.startsWith('UID');
    await start((command) => {
      if (!command.startsWith(silent)) return undefined;
      deadline.abort(new Error('the deadline'));
      return { end: null };
    });
    const cursor = isUid ? await beginning() : undefined;
    await expect(poll(cursor, {}, { signal: deadline.signal })).rejects.toThrow('the deadline');
  },
);

test('a server that does not say which UID comes next loses no place when the newest mail is removed', async () => {
  const uidOfNewest = { now: 3 };
  await start((command) => {
    if (command.startsWith('EXAMINE')) return { lines: ['* 1 EXISTS\r\n', '* OK [UIDVALIDITY 7] valid\r\n'] };
    if (command.startsWith('FETCH 1 ')) return { lines: [`* 1 FETCH (UID ${uidOfNewest.now})\r\n`] };
    return undefined;
  });
  const { cursor } = await poll(undefined);
  expect(cursor).toMatchObject({ uid: 3 });
  uidOfNewest.now = 2;
  expect(await poll(cursor)).toEqual({ events: [], cursor, more: false });
  uidOfNewest.now = 4;
  expect(subjects(await poll(cursor))).toEqual(['mail 4']);
});

test('a server that takes no access tokens says so', async () => {
  await start(() => undefined);
  const imap = { username: 'ada', host: '127.0.0.1', port: server.port, tls: 'None' } as const;
  const spec: CredentialSpec = { oauth2: { preset: 'microsoft', clientID: 'client', imap } };
  await expect(pollMail(spec, { access_token: 'token' }, { cursor: undefined })).rejects.toMatchObject({
    reason: 'Rejected',
    message: expect.stringContaining('no login'),
  });
});
