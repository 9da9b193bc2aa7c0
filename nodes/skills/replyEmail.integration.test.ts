/** Answers to mails, as a mail server gets them. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startMailServer } from '../../test/support/providers/mail/mailServer.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import { parseMail } from '../mail/content.ts';
import { outputOf } from '../mail/output.ts';
import { findSkill, validateSkill } from '../register.ts';

const server = await startMailServer();
afterAll(() => server.close());
beforeEach(() => {
  server.messages.length = 0;
});

const spec = {
  smtp: { host: '127.0.0.1', port: server.smtpPort, tls: 'None', from: 'Orders <orders@example.com>' },
} as const;

const answer = (mail: unknown, parameters: object = {}) =>
  findSkill('reply_email')!.execute(
    { mail, body: 'Thank you.', ...parameters },
    stepContext(spec, { effect: 'AtMostOnce' }),
    'smtp',
  );

const mail = {
  from: 'Ada <ada@example.com>',
  reply_to: [],
  subject: 'A lamp',
  message_id: '<a2@example.com>',
  references: ['<a0@example.com>', '<a1@example.com>'],
  auto_submitted: null,
};

/** What a mail trigger brings of the mail. */
async function triggered(lines: string[]): Promise<unknown> {
  const content = await parseMail(Buffer.from(lines.join('\r\n')));
  return outputOf(content, { credential: 'mail' }, new Date(0), 524_288).data_content;
}

test('an answer goes to the sender and belongs to the conversation', async () => {
  const result = await answer(mail);
  const [received] = server.messages;
  expect(received).toMatchObject({
    from: 'orders@example.com',
    to: ['ada@example.com'],
    subject: 'Re: A lamp',
    text: 'Thank you.',
    headers: {
      'in-reply-to': '<a2@example.com>',
      references: '<a0@example.com> <a1@example.com> <a2@example.com>',
      'auto-submitted': 'auto-replied',
    },
  });
  expect(result.output).toEqual({
    text_content: 'Sent to ada@example.com.',
    data_content: { message_id: received?.messageId, accepted: ['ada@example.com'], rejected: [] },
  });
});

test('what a mail trigger brings can be answered as it is, where its sender wants to be answered', async () => {
  const brought = await triggered([
    'From: "Lovelace, Ada" <ada@example.com>',
    'Reply-To: =?utf-8?q?Gr=C3=BCn=2C_Bo?= <bo@example.com>, cy@example.com',
    'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    'Message-ID: <a1@example.com>',
    '',
    'Hello',
  ]);
  await answer(brought, { html: '<b>Thank you.</b>', cc: 'dee@example.com', multipleRecipients: true });
  expect(server.messages[0]).toMatchObject({
    to: ['bo@example.com', 'cy@example.com', 'dee@example.com'],
    subject: 'Re: Grüße',
    headers: { 'in-reply-to': '<a1@example.com>', references: '<a1@example.com>' },
  });
  await answer(await triggered(['From: "Lovelace, Ada" <ada@example.com>', '', 'Hello']));
  expect(server.messages[1]).toMatchObject({ to: ['ada@example.com'], subject: 'Re:' });
});

test.each([
  ['Re: A lamp', 'Re: A lamp'],
  ['AW: Eine Lampe', 'AW: Eine Lampe'],
  ['re[2]: lamps', 're[2]: lamps'],
  ['Re  [2] : lamps', 'Re  [2] : lamps'],
  ['RE  : lamps', 'RE  : lamps'],
  ['Re [2: lamps', 'Re: Re [2: lamps'],
  ['Regarding: lamps', 'Re: Regarding: lamps'],
])('the subject %j is answered with %j', async (given, expected) => {
  await answer({ ...mail, subject: given });
  expect(server.messages[0]?.subject).toBe(expected);
});

test('a subject of 1,000 emoji is answered with its beginning', async () => {
  await answer({ ...mail, subject: '🦀'.repeat(1_000) });
  expect(server.messages[0]?.subject).toBe(`Re: ${'🦀'.repeat(448)}…`);
});

test('recipients and subject can be given', async () => {
  await answer(mail, { to: 'eve@example.com', subject: 'Something else' });
  expect(server.messages[0]).toMatchObject({ to: ['eve@example.com'], subject: 'Something else' });
});

test('a mail without an identity is answered without one; what is no identity is left out', async () => {
  await answer({ from: 'ada@example.com', subject: 'a', message_id: null });
  await answer({ ...mail, message_id: 'a2 and more', references: ['nonsense', '<a0@example.com>'] });
  const [first, second] = server.messages;
  expect(first?.headers).not.toHaveProperty('in-reply-to');
  expect(first?.headers).not.toHaveProperty('references');
  expect(second?.headers).not.toHaveProperty('in-reply-to');
  expect(second?.headers['references']).toBe('<a0@example.com>');
});

test('of a long conversation the first and the last mails are named', async () => {
  await answer({ ...mail, references: Array.from({ length: 50 }, (_, n) => `<${n}@example.com>`) });
  const named = server.messages[0]?.headers['references']?.split(/\s+/);
  expect(named).toHaveLength(20);
  expect([named?.[0], named?.[1], named?.at(-1)]).toEqual([
    '<0@example.com>',
    '<32@example.com>',
    '<a2@example.com>',
  ]);
});

test('an answer to an answer that names only the mail before it names that one, too', async () => {
  await answer({ ...mail, references: [], in_reply_to: '<a1@example.com>' });
  await answer({ ...mail, in_reply_to: '<elsewhere@example.com>' });
  expect(server.messages.map(({ headers }) => headers['references'])).toEqual([
    '<a1@example.com> <a2@example.com>',
    '<a0@example.com> <a1@example.com> <a2@example.com>',
  ]);
});

const AUTOMATIC = [
  'Auto-Submitted: Auto-Replied (vacation)',
  'Auto-Submitted: auto-generated',
  'Return-Path: <>',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
  'Precedence: bulk',
  'Precedence: list',
  'List-Id: Lamps <lamps.example.com>',
  'List-Unsubscribe: <mailto:leave@example.com>',
  'X-Auto-Response-Suppress: DR, AutoReply',
];

test.each(AUTOMATIC)('mail with the header %s is answered only where that is asked for', async (line) => {
  const before = server.connections();
  const brought = await triggered(['From: robot@example.com', line, '', '--b--']);
  expect((await answer(brought)).output).toEqual({
    text_content: `Not answered: a program or a mailing list sent the mail (${line}).`,
    data_content: { message_id: null, accepted: [], rejected: [] },
  });
  expect(server.connections()).toBe(before);
  await answer(brought, { answerAutomatic: true });
  expect(server.messages).toHaveLength(1);
});

test('a bounce is not answered, whatever else it lacks', async () => {
  const bounce = await triggered([
    'From: Mail Delivery System <MAILER-DAEMON>',
    'Subject: Undelivered',
    '',
    'a',
  ]);
  expect((await answer(bounce)).output.text_content).toMatch(/^Not answered: .*MAILER-DAEMON/);
});

test.each([
  'Auto-Submitted: no',
  'Return-Path: <ada@example.com>',
  'Precedence: first-class',
  'X-List: lamps',
])('mail with the header %s is that of a person', async (line) => {
  await answer(await triggered(['From: ada@example.com', line, '', 'Hello']));
  expect(server.messages).toHaveLength(1);
});

test('what is known of a mail by Auto-Submitted alone is enough', async () => {
  await answer({ ...mail, auto_submitted: 'auto-replied' });
  await answer({ ...mail, auto_submitted: 'no' });
  expect(server.messages).toHaveLength(1);
});

test('a name of the sender that looks like further addresses reaches nobody', async () => {
  await answer(await triggered(['From: "eve@example.com, <bo@example.com>" <ada@example.com>', '', 'Hello']));
  await answer({ ...mail, from: 'eve@example.com <ada@example.com>' });
  expect(server.messages.map(({ to }) => to)).toEqual([['ada@example.com'], ['ada@example.com']]);
});

test.each<[string, object, object]>([
  ['a line break in the subject', { subject: 'a\r\nBcc: x@example.com' }, {}],
  ['a line break in the sender', { from: 'Ada\r\nBcc: x@example.com <ada@example.com>' }, {}],
  ['a line break in Reply-To', { reply_to: ['ada@example.com\nRCPT TO:<x@example.com>'] }, {}],
  ['a line break in the identity', { message_id: '<a@example.com>\r\nBcc: x@example.com' }, {}],
  ['a line break in a reference', { references: ['<a@example.com>\r\nBcc: x@example.com'] }, {}],
  ['a NUL in the subject', { subject: 'a\u0000' }, {}],
  ['a line break in the subject that is given', {}, { subject: 'a\nBcc: x@example.com' }],
  ['a line break in the recipient that is given', {}, { to: 'ada@example.com\r\nX: y' }],
  ['no sender', { from: '' }, {}],
  ['not an address', { from: 'Ada' }, {}],
  ['two addresses for answers', { reply_to: ['ada@example.com', 'bo@example.com'] }, {}],
  ['an address for answers that is two', { reply_to: ['bo@example.com, Ada <ada@example.com>'] }, {}],
  ['a sender that is two', { from: 'bo@example.com; Ada <ada@example.com>' }, {}],
  [
    'eleven addresses for answers',
    { reply_to: Array.from({ length: 11 }, (_, n) => `a${n}@example.com`) },
    { multipleRecipients: true },
  ],
  ['a parameter that is not known', {}, { form: 'x' }],
])('%s is refused before anything is sent', async (_what, wrong, parameters) => {
  const before = server.connections();
  await expect(answer({ ...mail, ...wrong }, parameters)).rejects.toMatchObject({
    reason: 'InvalidParameters',
    retryable: false,
  });
  expect(server.connections()).toBe(before);
});

test('line breaks that were hidden in encoded words of a mail do not reach a header', async () => {
  const hidden = '=?utf-8?q?hello=0D=0ABcc:_x@example.com?=';
  await answer(await triggered([`From: ${hidden} <ada@example.com>`, `Subject: ${hidden}`, '', 'Hello']));
  expect(server.messages[0]).toMatchObject({
    to: ['ada@example.com'],
    subject: 'Re: hello Bcc: x@example.com',
  });
  expect(server.messages[0]?.headers).not.toHaveProperty('bcc');
});

test('the mail is named by a reference, or the workflow is not valid', () => {
  expect(validateSkill('reply_email', { mail: "{{ $('trigger').data_content }}", body: 'a' })).toEqual([]);
  expect(validateSkill('reply_email', { body: 'a' })).toEqual(['mail: is missing']);
});
