/** Mail triggers by Gmail's API, against a server that speaks its documented wire format. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MailTrigger } from '../../../api/trigger.ts';
import {
  startGmailServer,
  type GmailFault,
  type GmailOptions,
  type GmailServer,
} from '../../../test/support/providers/google/gmailServer.ts';
import { pollMail } from '../../../test/support/nodes/polls.ts';
import type { PollContext, Polled } from '../../contract/poller.ts';

let server: GmailServer;
beforeEach(async () => {
  server = await startGmailServer();
});
afterEach(() => server.close());

const tokenSpec = () => ({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }) as const;

const poll = (
  cursor: unknown,
  fields: Partial<MailTrigger> = {},
  context: Partial<PollContext> = {},
  since?: Date,
) => pollMail(tokenSpec(), { access_token: 'good-token' }, { cursor, fields, context, since });

const mail = (subject: string, from = 'ada@example.com') =>
  `From: ${from}\r\nSubject: ${subject}\r\n\r\nbody of ${subject}\r\n`;
const subjects = ({ events }: Polled) =>
  events.map(({ output }) => (output.data_content as { subject: string }).subject);
const numbered = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => `mail ${first + n}`);

async function restart(options: GmailOptions): Promise<void> {
  await server.close();
  server = await startGmailServer(options);
}

test('the first poll brings nothing, and the next what came since, once', async () => {
  server.deliver(mail('old'));
  const first = await poll(undefined);
  expect(first).toMatchObject({ events: [], more: false });
  const id = server.deliver(mail('new'));
  const second = await poll(first.cursor);
  expect(subjects(second)).toEqual(['new']);
  expect(second.events[0]).toMatchObject({
    key: id,
    output: { text_content: expect.stringContaining('body of new') },
  });
  expect(await poll(second.cursor)).toMatchObject({ events: [], more: false, cursor: second.cursor });
  expect(subjects(await poll(first.cursor))).toEqual(['new']);
});

test('a poll of an account in which nothing happened is one request', async () => {
  const { cursor } = await poll(undefined);
  server.requests.length = 0;
  await poll(cursor);
  expect(server.requests).toEqual(['GET /gmail/v1/users/me/profile']);
});

test('many mails come oldest first, over pages, a few at a time, none twice and none left out', async () => {
  await restart({ pageSize: 7 });
  let { cursor } = await poll(undefined);
  for (const subject of numbered(1, 45)) server.deliver(mail(subject));
  const found: string[] = [];
  for (let more = true; more; ) {
    const next: Polled = await poll(cursor, {}, { limit: 10 });
    expect(next.events.length).toBeLessThanOrEqual(10);
    found.push(...subjects(next));
    ({ cursor, more } = next);
    if (found.length === 20) server.deliver(mail('mail 46'));
  }
  expect(found).toEqual(numbered(1, 46));
});

test('when the history is too old, the list brings what came since the last mail, oldest first, a few at a time', async () => {
  await restart({ pageSize: 7 });
  server.deliver(mail('old'), { internalDate: 1_700_000_000_000 });
  let { cursor } = await poll(undefined);
  server.deliver(mail('seen'), { internalDate: 1_700_000_100_000 });
  cursor = (await poll(cursor)).cursor;
  for (const [index, subject] of numbered(1, 45).entries())
    server.deliver(mail(subject), { internalDate: 1_700_000_200_000 + index * 400 });
  server.expireHistory();
  const found: string[] = [];
  for (let more = true; more; ) {
    const next: Polled = await poll(cursor, {}, { limit: 10 });
    expect(JSON.stringify(next.cursor).length).toBeLessThan(3_072);
    found.push(...subjects(next));
    ({ cursor, more } = next);
  }
  expect(found).toEqual(numbered(1, 45));
  server.deliver(mail('after'));
  expect(subjects(await poll(cursor))).toEqual(['after']);
});

test('a first poll from a point in time brings what came since then', async () => {
  const time = 1_700_000_000_000;
  for (const [index, subject] of numbered(1, 5).entries())
    server.deliver(mail(subject), { internalDate: time + index * 60_000 });
  const first = await poll(undefined, {}, {}, new Date(time + 120_000));
  expect(first).toMatchObject({ events: [], more: true });
  const second = await poll(first.cursor);
  expect(subjects(second)).toEqual(numbered(3, 5));
  expect(second.more).toBe(false);
});

test('sender and subject are compared whatever the case of the letters; what does not match is passed over', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(mail('=?utf-8?q?Bestellung_GR=C3=9CN?=', '"Ada L." <ada@shop.example>'));
  server.deliver(mail('Bestellung grün', 'eve@else.example'));
  const found = await poll(cursor, { from: '@SHOP.example', subject: 'grün' });
  expect(subjects(found)).toEqual(['Bestellung GRÜN']);
  expect((await poll(found.cursor)).events).toEqual([]);
});

test('mail that is read already, was removed, or moved away is no event where it must not be', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(mail('read'), { labels: ['INBOX'] });
  server.remove(server.deliver(mail('removed')));
  server.label(server.deliver(mail('archived')), ['UNREAD']);
  server.deliver(mail('draft'), { labels: ['INBOX', 'DRAFT'] });
  server.deliver(mail('unread'));
  expect(subjects(await poll(cursor, { unseenOnly: true }))).toEqual(['unread']);
  expect(subjects(await poll(cursor))).toEqual(['read', 'unread']);
});

test('another label than INBOX is named as people name it', async () => {
  await restart({ userLabels: [{ id: 'Label_7', name: 'Orders' }] });
  const { cursor } = await poll(undefined, { mailbox: 'Orders' });
  server.deliver(mail('in the inbox'));
  server.deliver(mail('an order'), { labels: ['Label_7'] });
  expect(subjects(await poll(cursor, { mailbox: 'Orders' }))).toEqual(['an order']);
  await expect(poll(undefined, { mailbox: 'Bills' })).rejects.toMatchObject({
    reason: 'MailboxMissing',
    message: expect.stringContaining('Bills'),
  });
});

test.each<[GmailFault, string, number | undefined]>([
  ['unauthorized', 'Rejected', undefined],
  ['rateLimitExceeded', 'RateLimited', undefined],
  ['tooManyRequests', 'RateLimited', 17],
  ['insufficientPermissions', 'MissingScope', undefined],
  ['unavailable', 'UpstreamError', undefined],
  ['drop', 'Unreachable', undefined],
  ['garbage', 'InvalidAnswer', undefined],
])('a server that answers with "%s" is %s', async (fault, reason, retryAfterSeconds) => {
  server.setFault(fault);
  const error: unknown = await poll(undefined).catch((error: unknown) => error);
  expect(error).toMatchObject({ name: 'PollError', reason, retryAfterSeconds });
  expect(String(error)).not.toContain('good-token');
});

test('what was read before a failure counts, and the rest comes with the next poll', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(mail('one'));
  server.deliver(mail('two'));
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    if (request.includes('format=raw') && server.requests.some((each) => each.includes('format=raw')))
      server.setFault('unavailable');
    return log(request);
  };
  const found = await poll(cursor);
  expect(subjects(found)).toEqual(['one']);
  expect(found.more).toBe(true);
  server.setFault(undefined);
  server.requests.length = 0;
  expect(subjects(await poll(found.cursor))).toEqual(['two']);
});

test('a poll ends with what it has when it is enough, also while a mail does not come, but never without having got further', async () => {
  const { cursor } = await poll(undefined);
  for (const subject of numbered(1, 3)) server.deliver(mail(subject));
  const enough = new AbortController();
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    if (request.includes('format=raw') && server.requests.some((each) => each.includes('format=raw'))) {
      server.setFault('hang');
      enough.abort();
    }
    return log(request);
  };
  const first = await poll(cursor, {}, { enough: enough.signal });
  expect({ subjects: subjects(first), more: first.more }).toEqual({ subjects: ['mail 1'], more: true });
  server.setFault(undefined);
  server.requests.length = 0;
  const second = await poll(first.cursor, {}, { enough: enough.signal });
  expect({ subjects: subjects(second), more: second.more }).toEqual({ subjects: ['mail 2'], more: true });
  const none = await poll(second.cursor, { subject: 'something else' }, { enough: enough.signal });
  expect(none).toMatchObject({ events: [], more: false });
  server.requests.length = 0;
  expect(subjects(await poll(second.cursor))).toEqual(['mail 3']);
});

test('a mail that the server fails to give as it was sent is read in pieces', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(mail('odd'));
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    server.setFault(request.includes('format=raw') ? 'unavailable' : undefined);
    return log(request);
  };
  const found = await poll(cursor);
  expect(found.events[0]?.output).toMatchObject({
    text_content: expect.stringContaining('body of odd'),
    data_content: { subject: 'odd', truncated: false },
  });
});

test('of a mail whose parts cannot be read the header is brought, and those behind it come', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(`Subject: odd\r\n\r\n${'\r\n'.repeat(30_000)}`);
  server.deliver(mail('after'));
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    server.setFault(request.includes('format=full') ? 'garbage' : undefined);
    return log(request);
  };
  const found = await poll(cursor);
  expect(subjects(found)).toEqual(['odd', 'after']);
  expect(found.events[0]?.output).toMatchObject({ text_content: '', data_content: { truncated: true } });
});

test('a poll that must end ends', async () => {
  server.setFault('hang');
  const controller = new AbortController();
  const polling = poll(undefined, {}, { signal: controller.signal }).catch((error: unknown) => error);
  controller.abort(new Error('the deadline'));
  expect(await polling).toEqual(new Error('the deadline'));
});

test('another account behind the same credential is a new beginning', async () => {
  const { cursor } = await poll(undefined);
  await restart({ emailAddress: 'eve@example.com' });
  server.deliver(mail('of eve'));
  expect(await poll(cursor)).toMatchObject({
    events: [],
    more: false,
    baselineLost: expect.stringContaining('another account'),
  });
});

test('a large mail is not fetched but for its texts and what is wanted of it', async () => {
  const { cursor } = await poll(undefined);
  const file = (name: string, bytes: number) =>
    `--b\r\nContent-Type: application/zip\r\nContent-Disposition: attachment; filename=${name}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.alloc(bytes, name).toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n`;
  server.deliver(
    `From: ada@example.com\r\nSubject: =?utf-8?q?gro=C3=9F?=\r\nDate: Fri, 2 Jan 2026 10:20:30 +0000\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nthe text\r\n${file('large.zip', 2_200_000)}${file('small.zip', 100)}--b--`,
  );
  const found = await poll(cursor, { attachments: 'Content' });
  expect(found.events[0]?.output).toMatchObject({
    text_content: expect.stringContaining('the text'),
    data_content: {
      subject: 'groß',
      date: '2026-01-02T10:20:30.000Z',
      truncated: false,
      attachments: [
        { filename: 'large.zip', content_type: 'application/zip', size: 2_200_000 },
        {
          filename: 'small.zip',
          content_type: 'application/zip',
          size: 100,
          content: Buffer.alloc(100, 'small.zip').toString('base64'),
        },
      ],
    },
  });
  expect(server.sentBytes()).toBeLessThan(20_000);
});

test('of a mail with more text than anybody reads the header is brought, and those behind it come', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(
    `From: ada@example.com\r\nMessage-ID: <a@b>\r\nSubject: long\r\n\r\n${'text '.repeat(900_000)}`,
  );
  server.deliver(mail('after'));
  const found = await poll(cursor);
  expect(subjects(found)).toEqual(['long', 'after']);
  expect(found.events[0]?.output).toMatchObject({
    text_content: '',
    data_content: { message_id: '<a@b>', truncated: true },
  });
});

test('a mail of very many lines is not parsed in one piece', async () => {
  const { cursor } = await poll(undefined);
  server.deliver(`Subject: lines\r\n\r\n${'\r\n'.repeat(30_000)}end`);
  const found = await poll(cursor);
  expect(found.events[0]?.output.text_content.trim()).toBe('end');
  expect(server.requests.at(-1)).toContain('format=full');
});

test('an account that nobody has connected says so', async () => {
  const polling = pollMail(tokenSpec(), {}, { cursor: undefined });
  await expect(polling).rejects.toMatchObject({
    reason: 'CredentialMissing',
    message: expect.stringContaining('not connected'),
  });
});

test.each([
  ['smtp', { smtp: { host: 'a', from: 'a@b' } }],
  ['microsoft without a user name', { oauth2: { preset: 'microsoft', clientID: 'c' } }],
  ['custom without a place', { oauth2: { clientID: 'c' } }],
])('a credential that cannot read mail (%s) is named', async (_what, spec) => {
  await expect(pollMail(spec as object, {}, { cursor: undefined })).rejects.toMatchObject({
    reason: 'InvalidTrigger',
    message: expect.stringContaining('the credential account cannot read mail'),
  });
});
