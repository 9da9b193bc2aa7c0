import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { StepError } from '../../api/reasons.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import { anthropicWire } from '../../test/support/providers/anthropic/wire.ts';
import {
  startScriptedServer,
  type ScriptedAnswer,
} from '../../test/support/providers/model/scriptedServer.ts';
import { openaiWire } from '../../test/support/providers/openai/wire.ts';
import type { StepContext } from '../contract/node.ts';
import { Secret } from '../contract/secret.ts';
import { executeAgent, type AgentFields } from './agent.ts';
import { askModels } from './askModels.ts';
import { optionsProblem } from './options.ts';

const [first, second] = await Promise.all([
  startScriptedServer(openaiWire),
  startScriptedServer(anthropicWire),
]);
afterAll(() => Promise.all([first.close(), second.close()]));
beforeEach(() => {
  first.script();
  second.script();
});

const apiKeyRef = { name: 'llm', key: 'apiKey' };
const specs: Record<string, CredentialSpec> = {
  gpt: { openai: { baseURL: `${first.url}/v1`, apiKeyRef } },
  claude: { anthropic: { baseURL: second.url, apiKeyRef } },
  mail: { smtp: { host: 'mail.example.com', from: 'a@example.com' } },
};
const context = (given: Partial<StepContext> = {}) =>
  stepContext(specs['gpt']!, {
    effectKey: 'key',
    credential: async (name) => ({ name, spec: specs[name]!, secret: () => new Secret('test-secret') }),
    ...given,
  });

const fallback = [
  { credential: 'claude', model: 'claude-1' },
  { credential: 'gpt', model: 'gpt-2' },
];
const fields: AgentFields = { credential: 'gpt', model: 'gpt-1', prompt: 'Hello', fallback };
const run = (given: Partial<AgentFields> = {}, stepGiven: Partial<StepContext> = {}) =>
  executeAgent({ ...fields, ...given }, context(stepGiven));

async function failure(promise: Promise<unknown>): Promise<StepError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(StepError);
  return error as StepError;
}

const keys = () =>
  [first, second].map(({ requests }) => requests.map(({ headers }) => headers['idempotency-key']));

test('no fallback is asked while the first model answers', async () => {
  first.script({ message: { text: 'Hi.' } });
  const { output } = await run();
  expect(output.data_content).toMatchObject({ model: 'gpt-1', failed_models: [] });
  expect(keys()).toEqual([['key'], []]);
});

test('after temporary errors the models of fallback are asked once, in order, and the output says so', async () => {
  first.script({ status: 503, text: 'Down.' }, { message: { text: 'Hi.' } });
  second.script({ status: 529, text: 'Overloaded' });
  const { output } = await run();
  expect(output).toMatchObject({
    text_content: 'Hi.',
    data_content: {
      model: 'gpt-2',
      failed_models: [
        { credential: 'gpt', model: 'gpt-1', reason: 'UpstreamError' },
        { credential: 'claude', model: 'claude-1', reason: 'UpstreamError' },
      ],
    },
  });
  expect(keys()).toEqual([['key', 'key/fallback-2'], ['key/fallback-1']]);
});

test('where every model fails, the error is that of the first one and names the others', async () => {
  first.script(
    { status: 429, text: 'Slow down.', headers: { 'retry-after': '9' } },
    { status: 500, text: 'Broken.' },
  );
  second.script({ status: 401, text: 'No.' });
  const error = await failure(run());
  expect(error).toMatchObject({ reason: 'RateLimited', retryable: true, retryAfterMs: 9_000 });
  expect(error.message).toMatch(/Slow down.*fallback claude-1: CredentialRejected: .*No\./);
  expect(keys()).toEqual([['key'], ['key/fallback-1']]);
});

test.each<[string, ScriptedAnswer]>([
  ['a refused key', { status: 401, text: 'No.' }],
  ['a refused request', { status: 404, text: 'No such model.' }],
  ['a refusal of the model', { message: { refusal: 'I cannot help.' } }],
  ['too many tokens before the text', { message: { finish: 'cut' } }],
])('%s is not temporary', async (_name, answer) => {
  first.script(answer);
  await failure(run());
  expect(second.requests).toEqual([]);
});

test('an answer in doubt that must not be repeated asks no other model', async () => {
  first.script({ status: 500, text: 'Broken.' });
  expect(await failure(run({}, { effect: 'AtMostOnce' }))).toMatchObject({ reason: 'EffectUnknown' });
  expect(second.requests).toEqual([]);
});

test('a stopped step asks no other model', async () => {
  first.script({ nothing: true });
  const signal = AbortSignal.abort(new StepError('Timeout', 'the step took longer than 1 s'));
  expect(await failure(run({}, { signal }))).toMatchObject({ reason: 'Timeout' });
  expect(second.requests).toEqual([]);
});

test('after the first answer of the step the model stays', async () => {
  const chosen = fallback[0]!;
  second.script({ status: 529, text: 'Overloaded' });
  const question = { fields, messages: [{ role: 'user' as const, text: 'Go on.' }], tools: [], chosen };
  expect(await failure(askModels(question, context()))).toMatchObject({ reason: 'UpstreamError' });
  expect(keys()).toEqual([[], ['key']]);
});

test('a credential of another kind is refused', async () => {
  const error = await failure(run({ credential: 'mail' }));
  expect(error).toMatchObject({ reason: 'InvalidParameters' });
  expect(error.message).toContain('of kind smtp, but the step needs one of kind openai, or kind anthropic');
});

const outputSchema = { type: 'object', properties: { mood: { enum: ['good', 'bad'] } }, required: ['mood'] };

test('an answer that does not fit the schema is repaired once, and all tokens count', async () => {
  first.script({ message: { text: '{"mood":"so-so"}' } }, { message: { text: '{"mood":"good"}' } });
  const result = await run({ outputSchema });
  expect(result).toMatchObject({
    output: { text_content: '{"mood":"good"}', data_content: { json: { mood: 'good' } } },
    usage: { inputTokens: 14, outputTokens: 10 },
  });
  expect(keys()[0]).toEqual(['key', 'key/repair']);
  const { messages } = first.requests[1]!.body as { messages: { role: string; content: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(messages.at(-1)?.content).toMatch(/does not fit outputSchema: mood/);
});

test('an answer that does not fit after the repair fails, and shows what came without secrets', async () => {
  const text = `no JSON, but test-secret ${'and more '.repeat(200)}`;
  first.script({ message: { text } }, { message: { text } });
  const error = await failure(run({ outputSchema }));
  expect(error).toMatchObject({ reason: 'InvalidAnswer', retryable: true });
  expect(error.message).toContain('the model answered: no JSON, but [secret] and more');
  expect(error.message.length).toBeLessThan(700);
  expect(first.requests).toHaveLength(2);
});

test('an answer that was cut is not repaired', async () => {
  first.script({ message: { text: '{"mood":"go', finish: 'cut' } });
  const error = await failure(run({ outputSchema }));
  expect(error).toMatchObject({ reason: 'InvalidAnswer', retryable: false });
  expect(error.message).toContain('raise maxTokens');
});

const CALL = { id: 'c1', name: 'forward_inbox', arguments: '{"to":"mallory@example.net"}' };

test('a step without tools tells a model that calls one that there is none, and takes its next answer', async () => {
  first.script({ message: { calls: [CALL] } }, { message: { text: '{"mood":"good"}' } });
  expect(await run({ outputSchema })).toMatchObject({
    output: {
      data_content: {
        json: { mood: 'good' },
        tool_calls: [{ name: CALL.name, arguments: CALL.arguments, error: true }],
      },
    },
    usage: { inputTokens: 14, outputTokens: 10 },
  });
  expect(keys()[0]).toEqual(['key', 'key/without-tools']);
  expect(first.requests[1]!.body).toMatchObject({
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'I call forward_inbox.' },
      { role: 'user', content: expect.stringContaining('There is no tool forward_inbox') as string },
    ],
  });
});

test('a step without tools fails if the model goes on calling tools', async () => {
  first.script({ message: { calls: [CALL] } }, { message: { calls: [CALL], text: 'I forward it.' } });
  const error = await failure(run());
  expect(error).toMatchObject({ reason: 'InvalidToolCall', retryable: false });
  expect(error.message).toContain('this step has no tools');
  expect(first.requests).toHaveLength(2);
});

test('effort, stops and options reach the model', async () => {
  first.script({ message: { text: 'Hi.' } });
  await run({ reasoningEffort: 'High', stop: ['END'], options: { top_p: 0.5 } });
  expect(first.requests[0]!.body).toMatchObject({ reasoning_effort: 'high', stop: ['END'], top_p: 0.5 });
});

test('options cannot name what the step sets, or ask for several answers', async () => {
  expect(optionsProblem({ top_p: 1 })).toBeUndefined();
  expect(optionsProblem({ model: 'x', stream: false })).toBe(
    'options: model, stream cannot be set here: use the fields of the step',
  );
  for (const [options, remedy] of [
    [{ stream_options: {} }, /count the tokens: remove it/],
    [{ n: 2 }, /one answer/],
    [{ best_of: 2 }, /one answer/],
  ] as const) {
    expect(optionsProblem(options)).toMatch(remedy);
    expect(await failure(run({ options }))).toMatchObject({ reason: 'InvalidParameters', retryable: false });
  }
  expect(first.requests).toHaveLength(0);
});
