/** What the skill `http_request` makes of answers, and of servers that give none. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import {
  answering,
  startHttpTarget,
  startRawServer,
  type Handler,
} from '../../../test/support/nodes/httpTarget.ts';
import { pollUntil } from '../../../test/support/time/poll.ts';

const target = await startHttpTarget();
afterAll(() => target.close());
beforeEach(() => target.answer());

const bearer: CredentialSpec = { http: { bearer: { tokenRef: { name: 'api', key: 'token' } } } };

test.each<[number, object, string, boolean, number | undefined]>([
  [400, {}, 'Refused', false, undefined],
  [401, {}, 'Refused', false, undefined],
  [404, {}, 'Refused', false, undefined],
  [304, {}, 'Refused', false, undefined],
  [408, {}, 'UpstreamError', true, undefined],
  [429, { 'retry-after': '7' }, 'RateLimited', true, 7_000],
  [500, {}, 'UpstreamError', true, undefined],
  [503, { 'retry-after': '3' }, 'UpstreamError', true, 3_000],
  [
    503,
    { 'retry-after': 'Fri, 02 Jan 2032 12:00:30 GMT', date: 'Fri, 02 Jan 2032 12:00:00 GMT' },
    'UpstreamError',
    true,
    30_000,
  ],
])('status %i fails the step', async (status, headers, reason, retryable, retryAfterMs) => {
  target.answer(
    answering(status, { 'content-type': 'text/plain', ...headers }, status === 304 ? '' : 'no\n such  thing'),
  );
  const error = await target.failure({ method: 'PUT' });
  expect(error).toMatchObject({ reason, retryable, retryAfterMs });
  expect(error.message).toBe(
    `${new URL(target.url).host} answered PUT with status ${status}${status === 304 ? '' : ': no such thing'}`,
  );
});

test('a login that is refused names the credential as the cause', async () => {
  target.answer(answering(401, {}));
  expect(await target.failure({}, { credential: bearer })).toMatchObject({ reason: 'CredentialRejected' });
});

test('a step may take other statuses for a success', async () => {
  target.answer(answering(404, {}, 'none'));
  expect((await target.call({ expect: ['2xx', 404] })).output.data_content).toMatchObject({
    status: 404,
    body: 'none',
  });
  expect((await target.call({ expect: '4xx' })).output.text_content).toBe('none');
  target.answer(answering(200, {}));
  expect(await target.failure({ expect: [404] })).toMatchObject({ reason: 'Refused' });
});

const json = { 'content-type': 'application/json' };
test.each<[string, Record<string, string>, string | Buffer, object, unknown]>([
  [
    'JSON by its type',
    { 'content-type': 'application/problem+json; charset=utf-8' },
    '{"a":1}',
    {},
    { a: 1 },
  ],
  ['JSON that is asked for', { 'content-type': 'text/html' }, '[1]', { response: 'json' }, [1]],
  ['JSON as text, if that is asked for', json, '{"a":1}', { response: 'text' }, '{"a":1}'],
  ['invalid JSON, as text', json, '{"a":', {}, '{"a":'],
  ['text', { 'content-type': 'text/html' }, '<p>ä</p>', {}, '<p>ä</p>'],
  [
    'text of another charset',
    { 'content-type': 'text/plain; charset=ISO-8859-1' },
    Buffer.from([0xe4]),
    {},
    'ä',
  ],
  ['text without a type', {}, 'plain', {}, 'plain'],
  ['nothing', { 'content-type': 'application/json' }, '', {}, null],
  ['gzip', { ...json, 'content-encoding': 'gzip' }, gzipSync('{"a":1}'), {}, { a: 1 }],
  ['brotli', { ...json, 'content-encoding': 'br' }, brotliCompressSync('{"a":1}'), {}, { a: 1 }],
])('an answer is read as what it is: %s', async (_what, headers, body, parameters, value) => {
  target.answer(answering(200, headers, body));
  expect((await target.call(parameters)).output.data_content).toMatchObject({ body: value });
});

test('what is neither JSON nor text is given as base64', async () => {
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff]);
  target.answer(answering(200, { 'content-type': 'image/png' }, bytes));
  expect((await target.call({})).output).toEqual({
    text_content: '',
    data_content: {
      status: 200,
      headers: expect.anything(),
      encoding: 'base64',
      body: bytes.toString('base64'),
    },
  });
});

test('a HEAD has headers and no body', async () => {
  target.answer(answering(200, { 'content-length': '1000000000', 'content-encoding': 'gzip' }));
  expect((await target.call({ method: 'HEAD' })).output).toMatchObject({
    text_content: '',
    data_content: { body: null, headers: { 'content-length': '1000000000' } },
  });
});

test.each([
  ['no JSON', '{"a":'],
  ['JSON with a key that reaches a prototype', '{"__proto__": {"admin": true}}'],
  ['JSON that is too deep', `${'['.repeat(100)}${']'.repeat(100)}`],
])('where JSON is asked for, %s fails the step', async (_what, body) => {
  target.answer(answering(200, json, body));
  expect(await target.failure({ response: 'json' })).toMatchObject({
    reason: 'InvalidAnswer',
    retryable: true,
  });
  expect(await target.failure({ response: 'json', method: 'POST' })).toMatchObject({
    reason: 'InvalidAnswer',
    retryable: false,
  });
});

test('a header that is larger than headers may be fails the step', async () => {
  target.answer(answering(200, { 'x-large': 'x'.repeat(20_000) }));
  expect(await target.failure({})).toMatchObject({ reason: 'InvalidAnswer' });
});

/** Sends until the provider closes; gives how many bytes it took. */
function endless(
  headers: Record<string, string>,
  chunk: Buffer,
): { handler: Handler; closed: Promise<void> } {
  const closed = Promise.withResolvers<void>();
  return {
    closed: closed.promise,
    handler: (_request, response) => {
      response.writeHead(200, headers);
      const timer = setInterval(() => response.write(chunk), 1);
      response.on('close', () => {
        clearInterval(timer);
        closed.resolve();
      });
    },
  };
}

test('an answer that is too large is not read to its end, and its connection is closed', async () => {
  for (const [headers, chunk] of [
    [{}, Buffer.alloc(65_536, 'x')],
    [{ 'content-length': '999999999' }, Buffer.alloc(1_024, 'x')],
  ] as const) {
    const { handler: next, closed } = endless({ ...headers }, chunk);
    target.answer(next);
    expect(await target.failure({})).toMatchObject({
      reason: 'OutputTooLarge',
      retryable: false,
      message: expect.stringMatching(
        /has more than 262144 bytes: ask for less, or raise maxResponseBytes \(at most 393216\)/,
      ),
    });
    await closed;
  }
});

test('what is compressed is measured as it is uncompressed', async () => {
  target.answer(answering(200, { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(50_000_000))));
  expect(await target.failure({ maxResponseBytes: 1_000 })).toMatchObject({ reason: 'OutputTooLarge' });
  target.answer(answering(200, { 'content-encoding': 'gzip' }, 'not compressed'));
  expect(await target.failure({})).toMatchObject({ reason: 'InvalidAnswer', retryable: true });
});

test('a change whose answer cannot be uncompressed is not asked for again', async () => {
  target.answer(answering(200, { 'content-encoding': 'gzip' }, 'not compressed'));
  const expected = { reason: 'InvalidAnswer', retryable: false };
  expect(await target.failure({ method: 'POST' })).toMatchObject(expected);
  expect(await target.failure({ method: 'POST' }, { effect: 'AtMostOnce' })).toMatchObject(expected);
});

test('an output that would be too large as JSON is refused with its reason', async () => {
  target.answer(answering(200, {}, '\u0001'.repeat(200_000)));
  expect(await target.failure({})).toMatchObject({
    reason: 'OutputTooLarge',
    message: expect.stringMatching(/512 KiB of JSON/),
  });
  target.answer(answering(200, {}, 'x'.repeat(393_216)));
  const { output } = await target.call({ maxResponseBytes: 393_216 });
  expect(output.text_content).toHaveLength(65_536);
  expect(output.data_content).toMatchObject({ body: 'x'.repeat(393_216) });
});

test.each<[string, string | undefined, string]>([
  ['closes without a word', undefined, 'Unreachable'],
  ['speaks something else', 'SSH-2.0-x\r\n\r\n', 'InvalidAnswer'],
  ['breaks off in the middle', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 'Unreachable'],
])(
  'a server that %s is worth another attempt; what must not be repeated is in doubt',
  async (_what, answer, reason) => {
    const raw = await startRawServer(answer);
    expect(await target.failure({ url: raw.url, method: 'POST' })).toMatchObject({ reason, retryable: true });
    expect(await target.failure({ url: raw.url, method: 'POST' }, { effect: 'AtMostOnce' })).toMatchObject({
      reason: 'EffectUnknown',
    });
    expect(await target.failure({ url: raw.url }, { effect: 'AtMostOnce' })).toMatchObject({ reason });
    raw.close();
  },
);

test('a server that is not there was not reached, so that nothing is in doubt', async () => {
  const raw = await startRawServer('');
  raw.close();
  const error = await target.failure({ url: raw.url, method: 'POST' }, { effect: 'AtMostOnce' });
  expect(error).toMatchObject({
    reason: 'Unreachable',
    message: `cannot connect to ${new URL(raw.url).host}: ECONNREFUSED`,
  });
});

test('an answer of 5xx leaves in doubt what must not be repeated', async () => {
  target.answer(answering(500, {}));
  expect(await target.failure({ method: 'POST' }, { effect: 'AtMostOnce' })).toMatchObject({
    reason: 'EffectUnknown',
  });
});

test('a step that is stopped closes its connection at once, whether it waits for the answer or for more of it', async () => {
  for (const begins of [false, true]) {
    target.seen.length = 0;
    const stop = new AbortController();
    const gone = Promise.withResolvers<void>();
    target.answer((_request, response) => {
      if (begins) response.writeHead(200).write('half');
      response.on('close', () => gone.resolve());
    });
    const stopped = target.failure({}, { signal: stop.signal });
    await pollUntil('the request', async () => target.seen.length === 1 || undefined, {
      timeoutMs: 5_000,
      everyMs: 5,
    });
    stop.abort(new StepError('Timeout', 'the step took longer than its timeout of 1 s'));
    expect(await stopped).toMatchObject({ reason: 'Timeout' });
    await gone.promise;
  }
});
