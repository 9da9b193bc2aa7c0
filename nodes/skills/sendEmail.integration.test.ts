import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startMailServer, type MailFault } from '../../test/support/providers/mail/mailServer.ts';
import { pollUntil } from '../../test/support/time/poll.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import { StepError } from '../../api/reasons.ts';
import type { StepContext } from '../contract/node.ts';
import { findSkill, validateSkill } from '../register.ts';

const server = await startMailServer();
afterAll(() => server.close());
beforeEach(() => {
  server.messages.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

const passwordRef = { name: 'mail', key: 'password' };
const spec = {
  smtp: { host: '127.0.0.1', port: server.smtpPort, tls: 'None', from: 'Orders <orders@example.com>' },
} as const;
const mail = { to: 'ada@example.com', subject: 'Your order', body: 'Two lamps.' };

const send = (parameters: object, context: Partial<StepContext> = {}, credential: object = spec) =>
  findSkill('send_email')!.execute(
    parameters,
    stepContext(credential, { effect: 'AtMostOnce', ...context }),
    'smtp',
  );

/** The error that the promise ends with. */
async function failure(promise: Promise<unknown>): Promise<StepError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(StepError);
  return error as StepError;
}

test('a mail arrives as it was written, and the output names who got it', async () => {
  const result = await send({
    ...mail,
    cc: ['Bo <bo@example.com>'],
    bcc: 'cy@example.com',
    replyTo: 'help@example.com',
    html: '<b>Two</b>',
  });
  const [received] = server.messages;
  expect(received).toMatchObject({
    from: 'orders@example.com',
    to: ['ada@example.com', 'bo@example.com', 'cy@example.com'],
    subject: 'Your order',
    text: 'Two lamps.',
  });
  expect(received?.html).toContain('<b>Two</b>');
  expect(received?.headers).toMatchObject({
    'reply-to': 'help@example.com',
    'auto-submitted': 'auto-generated',
  });
  expect(received?.headers).not.toHaveProperty('bcc');
  expect(result.output).toEqual({
    text_content: 'Sent to ada@example.com, bo@example.com, cy@example.com.',
    data_content: { message_id: received?.messageId, accepted: received?.to, rejected: [] },
  });
});

test('the Message-ID is the same for one effect key and another for another', async () => {
  for (const effectKey of ['a', 'a', 'b']) await send(mail, { effectKey });
  const [first, again, other] = server.messages.map(({ messageId }) => messageId);
  expect(first).toMatch(/^<[0-9a-f]{40}@example\.com>$/);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('names that hold commas, quotes and addresses are names', async () => {
  const names = ['"Lovelace, Ada" <ada@example.com>', '"bo@example.com, \\"Bo\\"" <cy@example.com>'];
  await send({ ...mail, to: names });
  expect(server.messages[0]?.to).toEqual(['ada@example.com', 'cy@example.com']);
});

test('values that are no text are written out', async () => {
  await send({ ...mail, subject: 42, body: { items: [1] } });
  expect(server.messages[0]).toMatchObject({ subject: '42', text: '{"items":[1]}' });
});

test('a recipient that is refused does not keep the others from getting it', async () => {
  const { output } = await send({ ...mail, to: ['ada@example.com', 'refuse@example.com'] });
  expect(output).toMatchObject({
    text_content: 'Sent to ada@example.com; 1 refused.',
    data_content: { accepted: ['ada@example.com'], rejected: ['refuse@example.com'] },
  });
});

test.each([
  ['a line break in the subject', { ...mail, subject: 'a\r\nBcc: x@example.com' }],
  ['a NUL in the subject', { ...mail, subject: 'a\u0000' }],
  ['a line break in a name', { ...mail, to: 'A\r\nB <ada@example.com>' }],
  ['a line break in an address', { ...mail, to: ['ada@example.com\nRCPT TO:<x@example.com>'] }],
  ['a line break in replyTo', { ...mail, replyTo: 'ada@example.com\r\nX: y' }],
  ['no recipient', { ...mail, to: '' }],
  ['not an address', { ...mail, to: 'ada' }],
  [
    '101 recipients',
    {
      ...mail,
      to: Array.from({ length: 51 }, (_, n) => `a${n}@example.com`),
      cc: Array.from({ length: 50 }, (_, n) => `b${n}@example.com`),
    },
  ],
  ['a parameter that is not known', { ...mail, form: 'x' }],
  ['no subject', { to: mail.to, body: '' }],
])('%s is refused before anything is sent', async (_what, parameters) => {
  const before = server.connections();
  expect(await failure(send(parameters))).toMatchObject({ reason: 'InvalidParameters', retryable: false });
  expect(server.connections()).toBe(before);
});

test.each<[MailFault, string, boolean]>([
  ['refuse', 'Refused', false],
  ['defer', 'UpstreamError', true],
  ['drop', 'Unreachable', true],
  ['refuse-data', 'Refused', false],
  ['defer-data', 'UpstreamError', true],
  ['drop-after-data', 'EffectUnknown', false],
])('a server that does "%s" gives %s', async (fault, reason, retryable) => {
  expect(await failure(send({ ...mail, to: `${fault}@example.com` }))).toMatchObject({ reason, retryable });
});

test('when the answer to the message is lost, a step that may be repeated is', async () => {
  const error = await failure(
    send({ ...mail, to: 'drop-after-data@example.com' }, { effect: 'AtLeastOnce' }),
  );
  expect(error).toMatchObject({ reason: 'Unreachable', retryable: true });
});

test('stopped after the message was sent, the effect is unknown', async () => {
  const controller = new AbortController();
  const sending = failure(
    send({ ...mail, to: 'hang-after-data@example.com' }, { signal: controller.signal }),
  );
  await pollUntil('the message', () => server.messages.length === 1, { timeoutMs: 5_000, everyMs: 5 });
  controller.abort(new StepError('Timeout', 'the step took longer than 1 s'));
  expect(await sending).toMatchObject({ reason: 'EffectUnknown' });
});

test('stopped before the message was sent, the reason is that of the stop', async () => {
  const controller = new AbortController();
  const before = server.connections();
  const sending = failure(send({ ...mail, to: 'hang@example.com' }, { signal: controller.signal }));
  await pollUntil('the connection', () => server.connections() > before, { timeoutMs: 5_000, everyMs: 5 });
  controller.abort(new StepError('Timeout', 'the step took longer than 1 s'));
  expect(await sending).toMatchObject({ reason: 'Timeout' });
});

test('a server that greets after 25 s gets the mail, as does one whose greeting came while the runner stood still', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const slow = createServer().listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const connected = once(slow, 'connection') as Promise<[Socket]>;
  const { port } = slow.address() as AddressInfo;
  const sending = send(mail, {}, { smtp: { ...spec.smtp, port } });
  const [socket] = await connected;
  for (let second = 0; second < 25; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    await delay(2);
  }
  vi.useRealTimers();
  const behind = connect(server.smtpPort, '127.0.0.1');
  socket.pipe(behind).pipe(socket);
  expect(await sending).toMatchObject({ output: { text_content: 'Sent to ada@example.com.' } });
  slow.close();
});

test('nobody listening is worth another try', async () => {
  const nowhere = await startMailServer();
  await nowhere.close();
  const error = await failure(send(mail, {}, { smtp: { ...spec.smtp, port: nowhere.smtpPort } }));
  expect(error).toMatchObject({ reason: 'Unreachable', retryable: true });
});

test('a login that is refused, and one that is not offered, name the credential as the cause', async () => {
  const guarded = await startMailServer({ username: 'orders', password: 'right' });
  const account = { ...spec.smtp, port: guarded.smtpPort, username: 'orders', passwordRef };
  const wrong = await failure(send(mail, {}, { smtp: account }));
  expect(wrong).toMatchObject({ reason: 'CredentialRejected', retryable: false });
  expect(wrong.message).toContain('Username and password not accepted');
  const context = stepContext({ smtp: account }, { secrets: { password: 'right' } });
  await findSkill('send_email')!.execute(mail, context, 'smtp');
  expect(guarded.messages).toHaveLength(1);
  await guarded.close();
  const notOffered = await failure(send(mail, {}, { smtp: { ...account, port: server.smtpPort } }));
  expect(notOffered).toMatchObject({ reason: 'CredentialRejected' });
});

test('StartTLS is never given up for plain text', async () => {
  const error = await failure(send(mail, {}, { smtp: { ...spec.smtp, tls: 'StartTLS' } }));
  expect(error.reason).toBe('Unreachable');
  expect(server.messages).toHaveLength(0);
});

test('a credential of another kind is named', async () => {
  const error = await failure(send(mail, {}, { openai: { apiKeyRef: passwordRef } }));
  expect(error).toMatchObject({ reason: 'InvalidParameters' });
  expect(error.message).toContain('of kind openai');
});

test('parameters are checked before the workflow runs, but for what references will yield', () => {
  expect(validateSkill('send_email', { ...mail, to: "{{ $('t').data_content.mail }}" })).toEqual([]);
  expect(
    validateSkill('send_email', { ...mail, to: ["{{ $('t').text_content }}", 'ada@example.com'] }),
  ).toEqual([]);
  expect(validateSkill('send_email', { to: "{{ $('t').text_content }}", subject: 'a' })).toEqual([
    'body: is missing',
  ]);
  expect(validateSkill('send_email', { ...mail, form: "{{ $('t').text_content }}" })).toEqual([
    expect.stringMatching(/^there is no parameter named form; there are .*to, .*subject, .*body/),
  ]);
  expect(validateSkill('send_email', { ...mail, to: 'ada' })).toEqual([
    expect.stringMatching(/^to: must be exactly one address/),
  ]);
  expect(validateSkill('send_email', { ...mail, to: ['ada'] })).toEqual([
    expect.stringMatching(/^to\[0\]: must be exactly one address/),
  ]);
  const written = { ...mail, to: 'ada@example.com, "Lovelace, B" <bo@example.com>' };
  expect(validateSkill('send_email', written)).toEqual([]);
  expect(validateSkill('send_email', { ...mail, to: "ada, {{ $('t').text_content }}" })).toEqual([
    expect.stringContaining('to: must be exactly one address'),
  ]);
  expect(validateSkill('send_mail', mail)).toEqual([expect.stringContaining('send_email')]);
});
