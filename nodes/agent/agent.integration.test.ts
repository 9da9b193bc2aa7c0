import { afterAll, beforeEach, expect, test } from 'vitest';
import { StepError } from '../../api/reasons.ts';
import { listen } from '../../test/support/network/listen.ts';
import { startModelServer, type ModelFault } from '../../test/support/providers/model/modelServer.ts';
import { pollUntil } from '../../test/support/time/poll.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import type { StepContext } from '../contract/node.ts';
import type { ModelPatience } from '../contract/model.ts';
import { executeAgent, type AgentFields } from './agent.ts';

const server = await startModelServer({ apiKey: 'test-secret' });
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
});

const apiKeyRef = { name: 'llm', key: 'apiKey' };
const spec = { openai: { baseURL: server.baseURL, apiKeyRef } };
const fields: AgentFields = { credential: 'llm', model: 'demo', prompt: 'Say hello' };

const ask = (
  given: Partial<AgentFields> = {},
  context: Partial<StepContext> = {},
  patience?: ModelPatience,
) => executeAgent({ ...fields, ...given }, stepContext(spec, context), undefined, patience);

async function failure(promise: Promise<unknown>): Promise<StepError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(StepError);
  return error as StepError;
}

test('the output is the text, and what is known about how it was made', async () => {
  const result = await ask();
  expect(result).toEqual({
    output: {
      text_content: 'You said: Say hello',
      data_content: {
        model: 'demo',
        finish_reason: 'stop',
        usage: { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 },
        tool_calls: [],
        json: null,
      },
    },
    usage: { inputTokens: 2, outputTokens: 4 },
  });
});

test.each([302, 307, 308])('neither key nor prompt follows a redirect with %i', async (status) => {
  const seen: string[] = [];
  const other = await listen((request, response) => {
    seen.push(request.url ?? '');
    response.end('{}');
  });
  const first = await listen((request, response) => {
    request.resume();
    response.writeHead(status, { location: `${other.url}/v1/chat/completions` }).end();
  });
  const openai = { baseURL: `${first.url}/v1`, apiKeyRef, organization: 'org-1' };
  const error = await failure(executeAgent(fields, stepContext({ openai })));
  await Promise.all([first.close(), other.close()]);
  expect(error).toMatchObject({
    reason: 'Refused',
    message: expect.stringContaining('correct baseURL') as string,
  });
  expect(seen).toEqual([]);
});

test('the text is shown piece by piece while it grows', async () => {
  const context = stepContext(spec);
  const { output } = await executeAgent(fields, context);
  expect(context.texts.length).toBeGreaterThan(2);
  expect(context.texts.join('')).toBe(output.text_content);
});

test('the model is asked what the step says, with the effect key', async () => {
  await ask(
    { systemPrompt: 'Be brief.', prompt: { items: [1] }, temperature: 0.2, maxTokens: 50 },
    { effectKey: 'key-1' },
  );
  expect(server.requests).toMatchObject([
    {
      idempotencyKey: 'key-1',
      body: {
        model: 'demo',
        temperature: 0.2,
        max_tokens: 50,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: '{"items":[1]}' },
        ],
      },
    },
  ]);
});

test('images reach the model, and the error of one that refuses them names them', async () => {
  const content = Buffer.from([0x89, 0x50, 0x4e, 0x47, 1]).toString('base64');
  const images = [[{ filename: 'a.png', content_type: 'image/png', size: 5, content }]];
  expect(await failure(ask({ model: 'not-found', images }))).toMatchObject({
    reason: 'Refused',
    message: expect.stringContaining('the request had 1 image: if the model takes none') as string,
  });
  expect(JSON.stringify(server.requests[0]?.body.messages)).toContain(`data:image/png;base64,${content}`);
});

const outputSchema = {
  type: 'object',
  properties: { mood: { type: 'string', enum: ['good', 'bad'] }, score: { type: 'integer' } },
  required: ['mood', 'score'],
};

test('with an output schema the answer is also there as a value', async () => {
  const { output } = await ask({ outputSchema });
  expect(output.data_content).toMatchObject({ json: { mood: 'good', score: 1 } });
});

test('a server that knows no schemas is asked again with the schema in words', async () => {
  const { output } = await ask({ outputSchema, model: 'no-schemas' });
  expect(output.data_content).toMatchObject({ json: { mood: 'good', score: 1 } });
  expect(server.requests).toHaveLength(2);
});

const impatient: ModelPatience = { firstChunkMs: 20, idleMs: 20 };

test.each<[ModelFault, string, boolean]>([
  ['error-500', 'UpstreamError', true],
  ['rate-limit', 'RateLimited', true],
  ['not-found', 'Refused', false],
  ['garbage', 'InvalidAnswer', true],
  ['bad-json', 'InvalidAnswer', true],
  ['nothing', 'InvalidAnswer', true],
  ['half-stream', 'Unreachable', true],
  ['cut-stream', 'Unreachable', true],
  ['reset', 'Unreachable', true],
  ['endless-text', 'OutputTooLarge', false],
  ['endless-line', 'OutputTooLarge', false],
  ['endless-error', 'UpstreamError', true],
])('a server that does "%s" gives %s, and is asked once', async (fault, reason, retryable) => {
  expect(await failure(ask({ model: fault }))).toMatchObject({ reason, retryable });
  expect(server.requests).toHaveLength(1);
});

test.each<ModelFault>(['hang', 'stall', 'one-byte-a-second'])(
  'a model that falls silent ("%s") is given up',
  async (model) => {
    const error = await failure(ask({ model }, {}, impatient));
    expect(error).toMatchObject({ reason: 'Timeout', retryable: true });
    expect(error.message).toContain('sent nothing');
  },
);

test('a rate limit says how long to wait', async () => {
  expect(await failure(ask({ model: 'rate-limit' }))).toMatchObject({ retryAfterMs: 1_000 });
});

test('a key that is refused does not appear in the message', async () => {
  const context = stepContext(spec, { secrets: { apiKey: 'sk-wrong-key' } });
  const error = await failure(executeAgent(fields, context));
  expect(error).toMatchObject({ reason: 'CredentialRejected', retryable: false });
  expect(error.message).not.toContain('sk-wrong-key');
});

test('nobody listening is worth another try', async () => {
  const gone = await startModelServer();
  await gone.close();
  const context = stepContext(
    { openai: { ...spec.openai, baseURL: gone.baseURL } },
    { effect: 'AtMostOnce' },
  );
  const error = await failure(executeAgent(fields, context));
  expect(error).toMatchObject({ reason: 'Unreachable', retryable: true });
  expect(error.message).toContain('ECONNREFUSED');
});

test('an agent that must not be repeated is in doubt once the model may have answered', async () => {
  expect(await failure(ask({ model: 'cut-stream' }, { effect: 'AtMostOnce' }))).toMatchObject({
    reason: 'EffectUnknown',
  });
  expect(await failure(ask({ model: 'rate-limit' }, { effect: 'AtMostOnce' }))).toMatchObject({
    reason: 'RateLimited',
  });
});

test('stopped in the middle, the reason is that of the stop', async () => {
  const controller = new AbortController();
  const asking = failure(ask({ model: 'stall' }, { signal: controller.signal }));
  await pollUntil('the request', () => server.requests.length === 1, { timeoutMs: 5_000, everyMs: 5 });
  controller.abort(new StepError('Timeout', 'the step took longer than 1 s'));
  expect(await asking).toMatchObject({ reason: 'Timeout', message: 'the step took longer than 1 s' });
});
