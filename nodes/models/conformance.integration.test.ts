/** What every provider of models guarantees, against servers that speak its documented wire format. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StepError, type FailureReason } from '../../api/reasons.ts';
import { MODEL_DRIVERS, type ModelDriver } from '../../test/support/conformance/models/register.ts';
import { listen } from '../../test/support/network/listen.ts';
import { modelContext } from '../../test/support/nodes/modelContext.ts';
import { localEgress } from '../../test/support/nodes/stepContext.ts';
import { pollUntil } from '../../test/support/time/poll.ts';
import {
  SCRIPTED_KEY,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
} from '../../test/support/providers/model/scriptedServer.ts';
import { checkCredential } from '../checks.ts';
import type { ModelAnswer, ModelContext, ModelMessage, ModelRequest } from '../contract/model.ts';
import type { CredentialAccess } from '../contract/node.ts';
import { Secret } from '../contract/secret.ts';
import { findProvider, PROVIDERS } from '../providers/register.ts';

const addTool = {
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, default: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  },
};
const outputSchema = {
  type: 'object',
  properties: { mood: { type: 'string' } },
  required: ['mood'],
  additionalProperties: false,
};
const question: ModelMessage = { role: 'user', text: 'What is 1 + 2?' };
const text = 'It is three, as far as I can tell.';
const calls = [
  { id: 'call_a', name: 'add', arguments: '{"a":1,"default":2}' },
  { id: 'call_b', name: 'add', arguments: '{"a":3,"default":4}' },
];

test('every provider of models has a driver', () => {
  const offered = PROVIDERS.filter(({ model }) => model).flatMap(({ credentials }) => credentials);
  const driven = MODEL_DRIVERS.flatMap(({ spec }) => Object.keys(spec('http://127.0.0.1')));
  expect(new Set(driven)).toEqual(new Set(offered));
});

type Options = Partial<ModelContext> & { url?: string };

/** A server of the driver for the tests of a group, and requests to it. */
function harness({ wire, spec }: ModelDriver) {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer(wire);
  });
  afterAll(() => server.close());

  const credentialAt = (url = server.url, key = SCRIPTED_KEY): CredentialAccess => ({
    name: 'llm',
    spec: spec(url),
    secret: () => new Secret(key),
  });

  async function ask(request: Partial<ModelRequest> = {}, options: Options = {}): Promise<ModelAnswer> {
    const { url, ...rest } = options;
    const credential = credentialAt(url);
    const provider = await findProvider(credential.spec, 'model')!.model();
    return provider.ask(
      { model: 'model-1', messages: [question], tools: [], ...request },
      modelContext(credential.spec, { credential, ...rest }),
    );
  }

  async function failure(request: Partial<ModelRequest> = {}, options: Options = {}): Promise<StepError> {
    const error: unknown = await ask(request, options).then(
      () => new Error('it did not fail'),
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(StepError);
    return error as StepError;
  }

  return {
    script: (...answers: ScriptedAnswer[]) => server.script(...answers),
    requests: () => server.requests,
    bodyOf: (index: number) => server.requests[index]!.body,
    credentialAt,
    ask,
    failure,
  };
}

describe.each(MODEL_DRIVERS)('$title', (driver) => {
  const { script, requests, bodyOf, credentialAt, ask, failure } = harness(driver);

  test('a text comes in pieces, with model, reason and usage', async () => {
    script({ message: { text: 'It is three.' } });
    const texts: string[] = [];
    const answer = await ask({}, { emitText: (text) => texts.push(text) });
    expect(answer).toMatchObject({
      text: 'It is three.',
      toolCalls: [],
      model: 'model-1',
      isCut: false,
      usage: { inputTokens: 7, outputTokens: 5 },
    });
    expect(answer.finishReason).not.toBe('');
    expect(texts.join('')).toBe('It is three.');
    expect(texts.length).toBeGreaterThan(1);
  });

  test('instructions, limits and tools reach the server, with the idempotency key', async () => {
    script({ message: { text: 'Three.' } });
    await ask({
      messages: [{ role: 'system', text: 'Be brief.' }, question],
      tools: [addTool],
      maxTokens: 50,
      temperature: 0.5,
      stop: ['END'],
      reasoningEffort: 'Low',
      outputSchema,
      options: { service_tier: 'auto', model: 'another' },
    });
    expect(requests()[0]).toMatchObject({
      headers: { 'idempotency-key': 'run-1/agent/1' },
      body: { service_tier: 'auto', model: 'model-1', stream: true },
    });
    expect(driver.read(bodyOf(0))).toEqual({
      system: 'Be brief.',
      results: [],
      tools: [{ name: 'add', schema: addTool.inputSchema }],
      maxTokens: 50,
      temperature: 0.5,
      stop: ['END'],
      effort: 'low',
      schema: outputSchema,
    });
  });

  test('a tool call comes whole, and its result goes back', async () => {
    script({ message: { text: 'I add.', calls: calls.slice(0, 1) } }, { message: { text: 'Three.' } });
    const first = await ask({ tools: [addTool] });
    expect(first).toMatchObject({ text: 'I add.', toolCalls: calls.slice(0, 1) });
    const second = await ask({
      tools: [addTool],
      messages: [
        question,
        { role: 'assistant', ...first },
        { role: 'tool', callId: 'call_a', text: '3', isError: false },
      ],
    });
    expect(second).toMatchObject({ text: 'Three.', toolCalls: [] });
    expect(driver.read(bodyOf(1)).results).toEqual([{ id: 'call_a', text: '3' }]);
  });

  test('parallel tool calls come as separate calls', async () => {
    script({ message: { calls } });
    expect(await ask({ tools: [addTool] })).toMatchObject({ text: '', toolCalls: calls });
  });

  test('a call whose arguments are not JSON comes as it is, and does not break the next request', async () => {
    const broken = { id: 'call_a', name: 'add', arguments: '{"a": 1,' };
    script({ message: { calls: [broken] } }, { message: { text: 'Sorry.' } });
    const first = await ask({ tools: [addTool] });
    expect(first.toolCalls).toEqual([broken]);
    const result = { role: 'tool', callId: 'call_a', text: 'invalid JSON', isError: true } as const;
    await ask({ tools: [addTool], messages: [question, { role: 'assistant', ...first }, result] });
    expect(JSON.stringify(bodyOf(1))).not.toContain('1,');
  });

  test('what another provider kept with a message is left out', async () => {
    script({ message: { text: 'Three.' } });
    const raw = { other: [{ type: 'thinking', signature: 'theirs' }] };
    const messages: ModelMessage[] = [
      question,
      { role: 'assistant', text: 'Hm.', toolCalls: [], raw },
      question,
    ];
    await ask({ messages });
    expect(JSON.stringify(bodyOf(0))).not.toContain('theirs');
    expect(JSON.stringify(bodyOf(0))).toContain('Hm.');
  });

  test('an image goes along', async () => {
    script({ message: { text: 'A cat.' } });
    const images = [{ mediaType: 'image/png', data: 'aGVsbG8=' }];
    await ask({ messages: [{ role: 'user', text: 'What is it?', images }] });
    const sent = JSON.stringify(bodyOf(0));
    expect(sent).toContain('aGVsbG8=');
    expect(sent).toContain('image/png');
  });

  test('a server that takes no schemas is asked in words, with another key', async () => {
    script({ status: 400, text: driver.refusesSchemas }, { message: { text: '{"mood":"good"}' } });
    expect(await ask({ outputSchema })).toMatchObject({ text: '{"mood":"good"}' });
    const keys = requests().map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['run-1/agent/1', 'run-1/agent/1/adapted-1']);
    const second = driver.read(bodyOf(1));
    expect(second.schema).toBeUndefined();
    expect(second.system).toContain(JSON.stringify(outputSchema));
  });

  test('a server that refuses for ever is asked four times at most', async () => {
    script(
      ...Array.from({ length: 9 }, () => ({ status: 400, text: `${driver.refusesSchemas} stream_options` })),
    );
    expect(await failure({ outputSchema, maxTokens: 5 })).toMatchObject({
      reason: 'Refused',
      retryable: false,
    });
    expect(requests().length).toBeLessThanOrEqual(4);
  });

  test('an answer that the limit of tokens cut is marked', async () => {
    script({ message: { text: 'It is', finish: 'cut' } });
    expect(await ask()).toMatchObject({ text: 'It is', isCut: true });
  });

  test('a reason that nobody knows is passed on', async () => {
    script({ message: { text: 'It is three.', finish: 'novel_reason' } });
    expect(await ask()).toMatchObject({ text: 'It is three.', finishReason: 'novel_reason', isCut: false });
  });

  test.each<[string, ScriptedAnswer, FailureReason, boolean, RegExp]>([
    ['an empty message', { message: {} }, 'InvalidAnswer', true, /empty message/],
    [
      'a limit of tokens that leaves no text',
      { message: { finish: 'cut' } },
      'InvalidAnswer',
      false,
      /raise maxTokens/,
    ],
    ['a refusal', { message: { refusal: 'I cannot help.' } }, 'Refused', false, /declined: I cannot help/],
    ['a filter', { message: { finish: 'refused' } }, 'Refused', false, /declined/],
    ['a page in place of a stream', { body: '<html>', type: 'text/html' }, 'InvalidAnswer', true, /baseURL/],
    ['an empty body', { body: '', type: 'text/event-stream' }, 'InvalidAnswer', true, /baseURL/],
    [
      'broken JSON in the stream',
      { message: { text }, pieces: 4, after: 'garbage' },
      'InvalidAnswer',
      true,
      /cannot be read/,
    ],
    [
      'a chunk of another shape',
      { body: 'event: message_start\ndata: {"type": 7, "choices": 7}\n\n', type: 'text/event-stream' },
      'InvalidAnswer',
      true,
      /invalid/,
    ],
    [
      'a stream that ends early',
      { message: { text }, pieces: 4, after: 'end' },
      'Unreachable',
      true,
      /ended/,
    ],
    [
      'a connection that breaks',
      { message: { text }, pieces: 4, after: 'break' },
      'Unreachable',
      true,
      /lost/,
    ],
    [
      'an error in the stream',
      { message: { text }, pieces: 4, after: 'error' },
      'UpstreamError',
      true,
      /Overloaded/,
    ],
    ['status 500', { status: 500, text: 'It broke.' }, 'UpstreamError', true, /It broke/],
    ['status 529', { status: 529, text: 'Overloaded' }, 'UpstreamError', true, /Overloaded/],
    ['status 404', { status: 404, text: 'No such model.' }, 'Refused', false, /No such model/],
    ['status 403', { status: 403, text: 'Not allowed.' }, 'CredentialRejected', false, /Not allowed/],
    [
      'arguments of more than 1 MiB',
      { message: { calls: [{ id: 'a', name: 'add', arguments: `{"a":"${'x'.repeat(1_100_000)}"}` }] } },
      'OutputTooLarge',
      false,
      /arguments/,
    ],
    [
      'more than 128 calls',
      { message: { calls: Array.from({ length: 129 }, (_, at) => ({ ...calls[0]!, id: `c${at}` })) } },
      'OutputTooLarge',
      false,
      /128 tools/,
    ],
    [
      'a text without end',
      { message: { text: `${'x'.repeat(99_999)} `.repeat(6) } },
      'OutputTooLarge',
      false,
      /maxTokens/,
    ],
  ])('%s fails, after one request', async (_name, answer, reason, retryable, message) => {
    script(answer);
    const error = await failure({ tools: [addTool] });
    expect(error).toMatchObject({ reason, retryable });
    expect(error.message).toMatch(message);
    expect(requests()).toHaveLength(1);
  });

  test('a rate limit says how long to wait', async () => {
    script({ status: 429, text: 'Slow down.', headers: { 'retry-after': '7' } });
    expect(await failure()).toMatchObject({ reason: 'RateLimited', retryAfterMs: 7_000 });
  });

  test.each<[string, ScriptedAnswer]>([
    ['from the beginning', { nothing: true }],
    ['in the middle', { message: { text }, pieces: 4, after: 'silence' }],
  ])('a model that is silent %s is given up', async (_name, answer) => {
    script(answer);
    const error = await failure({}, { patience: { firstChunkMs: 50, idleMs: 50 } });
    expect(error).toMatchObject({ reason: 'Timeout', retryable: true });
    expect(error.message).toContain('sent nothing');
  });

  test('stopped in the middle, the reason is that of the stop', async () => {
    script({ message: { text }, pieces: 4, after: 'silence' });
    const controller = new AbortController();
    const seen: string[] = [];
    const asking = failure({}, { signal: controller.signal, emitText: (piece) => seen.push(piece) });
    await pollUntil('text', () => seen.length > 0, { timeoutMs: 5_000, everyMs: 5 });
    controller.abort(new StepError('Timeout', 'the step took longer than 1 s'));
    expect(await asking).toMatchObject({ reason: 'Timeout', message: 'the step took longer than 1 s' });
  });

  test.each<[string, ScriptedAnswer, FailureReason]>([
    ['a broken stream', { message: { text }, pieces: 4, after: 'break' }, 'EffectUnknown'],
    ['a rate limit', { status: 429, text: 'Slow down.' }, 'RateLimited'],
  ])(
    'where it must not be repeated, %s is in doubt only if the model may have answered',
    async (_name, answer, reason) => {
      script(answer);
      expect(await failure({}, { effect: 'AtMostOnce' })).toMatchObject({ reason });
    },
  );

  test('neither key nor prompt follows a redirect', async () => {
    const seen: string[] = [];
    const other = await listen((request, response) => {
      seen.push(request.url ?? '');
      response.end('{}');
    });
    const first = await listen((request, response) => {
      request.resume();
      response.writeHead(307, { location: `${other.url}${request.url}` }).end();
    });
    const error = await failure({}, { url: first.url });
    await Promise.all([first.close(), other.close()]);
    expect(error).toMatchObject({ reason: 'Refused' });
    expect(error.message).toContain('correct baseURL');
    expect(seen).toEqual([]);
  });

  const KEY = 'sk-wrong/key+1';

  test('a wrong key is refused, and is not in the message', async () => {
    const error = await failure({}, { credential: credentialAt(undefined, KEY) });
    expect(error).toMatchObject({ reason: 'CredentialRejected', retryable: false });
    expect(error.message).not.toContain(KEY);
  });

  test.each([
    ['as it is', 500, SCRIPTED_KEY],
    ['in base64', 400, Buffer.from(SCRIPTED_KEY).toString('base64')],
  ])('a key that the server repeats %s is not in the message', async (_name, status, echo) => {
    script({ status, text: `no ${echo} here` });
    const { message } = await failure();
    expect(message).toContain('no [secret] here');
    expect(message).not.toContain(echo);
  });

  const signal = new AbortController().signal;

  test('the check of the credential lists the models', async () => {
    const result = await checkCredential(credentialAt(), { egress: localEgress, signal });
    expect(result).toMatchObject({ works: true, models: driver.wire.models });
  });

  test('the check of a wrong key says so, without the key', async () => {
    const result = await checkCredential(credentialAt(undefined, KEY), { egress: localEgress, signal });
    expect(result).toMatchObject({ works: false, reason: 'Rejected' });
    expect(JSON.stringify(result)).not.toContain(KEY);
  });
});

describe.each(MODEL_DRIVERS.filter(({ signatureIn }) => signatureIn))('$title', (driver) => {
  const { script, bodyOf, ask } = harness(driver);

  test('signatures go back as they came', async () => {
    script({ message: { signature: 'sig/+=1', calls } }, { message: { text: 'Three.' } });
    const first = await ask({ tools: [addTool] });
    // A checkpoint stores the answer as JSON.
    const stored = JSON.parse(JSON.stringify({ role: 'assistant', ...first })) as ModelMessage;
    const results = calls.map(({ id }): ModelMessage => {
      return { role: 'tool', callId: id, text: '3', isError: false };
    });
    await ask({ tools: [addTool], messages: [question, stored, ...results] });
    expect(driver.signatureIn?.(bodyOf(1))).toBe('sig/+=1');
  });
});

describe.each(MODEL_DRIVERS.filter(({ pings }) => pings))('$title', (driver) => {
  const { script, ask } = harness(driver);

  test('a model that shows that it thinks is waited for', async () => {
    script({ message: { text }, pieces: 1, after: 'ping' });
    expect(await ask({}, { patience: { firstChunkMs: 1_000, idleMs: 1_000 } })).toMatchObject({ text });
  });
});
