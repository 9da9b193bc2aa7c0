/** What an agent does with streams that no model should send. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { listen } from '../../test/support/network/listen.ts';
import { agentCalls } from '../../test/support/nodes/agentCalls.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import { anthropicWire } from '../../test/support/providers/anthropic/wire.ts';
import { startScriptedServer } from '../../test/support/providers/model/scriptedServer.ts';
import { openaiWire } from '../../test/support/providers/openai/wire.ts';
import { toolsOf } from '../tools.ts';
import { executeAgent, type AgentFields } from './agent.ts';

const claude = await startScriptedServer(anthropicWire);
const gpt = await startScriptedServer(openaiWire);
const asked: string[] = [];
const api = await listen((request, response) => {
  asked.push(request.url ?? '');
  response.end('{"stock":3}');
});
afterAll(() => Promise.all([claude.close(), gpt.close(), api.close()]));
beforeEach(() => {
  asked.length = 0;
});

const apiKeyRef = { name: 'llm', key: 'apiKey' };
const tools = [{ name: 'lookup', skill: 'http_request', parameters: { url: api.url } }];
const SPECS = new Map([
  [claude, { anthropic: { baseURL: claude.url, apiKeyRef } }],
  [gpt, { openai: { baseURL: `${gpt.url}/v1`, apiKeyRef } }],
]);

/** Each stream is the body of an answer. */
async function converse(server: typeof gpt, streams: readonly string[], extra: Partial<AgentFields> = {}) {
  server.script(...streams.map((body) => ({ body, type: 'text/event-stream' })));
  const context = stepContext(SPECS.get(server) ?? {});
  const calls = agentCalls(context);
  const fields = { credential: 'llm', model: 'model-1', prompt: 'How many?', ...extra };
  const fixed = tools.map(({ parameters }) => parameters);
  const { output, usage } = await executeAgent(
    fields,
    { ...context, calls },
    { tools: toolsOf({ tools }), fixed },
  );
  return { output, usage, second: JSON.stringify(server.requests[1]?.body['messages'] ?? null) };
}

const event = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const start = (usage: unknown = { input_tokens: 1 }): string =>
  event('message_start', { message: { usage } });
const begin = (index: number, content_block: object): string =>
  event('content_block_start', { index, content_block });
const end = (stop_reason: string, usage: unknown = { output_tokens: 5 }): string =>
  event('message_delta', { delta: { stop_reason }, usage });
const text = (index: number, words: string): string => begin(index, { type: 'text', text: words });
const use = (index: number, id: string, input: unknown = {}): string =>
  begin(index, { type: 'tool_use', id, name: 'lookup', input });
const thinking = begin(0, { type: 'thinking', thinking: 'Hm.', signature: 'sig' });
const done = start() + text(0, 'Done.') + end('end_turn');

test.each([
  ['one index', use(1, 'a') + use(1, 'b') + end('tool_use')],
  ['a call after the stop', use(1, 'a') + end('tool_use') + use(2, 'b')],
])('messages with thinking and %s go back with a call for each result', async (_what, blocks) => {
  const { second } = await converse(claude, [start() + thinking + text(3, ' \n') + blocks, done]);
  const [, assistant, results] = JSON.parse(second) as { content: { type: string; id?: string }[] }[];
  const [first, ...calls] = assistant?.content.map(({ type, id }) => id ?? type) ?? [];
  expect([first, ...calls.toSorted()]).toEqual(['thinking', 'a', 'b']);
  expect(results?.content).toMatchObject([{ tool_use_id: 'a' }, { tool_use_id: 'b' }]);
  expect(asked).toHaveLength(2);
});

const piece = event('content_block_delta', {
  index: 0,
  delta: { type: 'input_json_delta', partial_json: '{"query":{"n":2}}' },
});

test.each<[what: string, block: string, url: string[]]>([
  ['whole', use(0, 'a', { query: { n: 1 } }), ['/?n=1']],
  ['whole, and again in pieces', use(0, 'a', { query: { n: 1 } }) + piece, ['/?n=2']],
  ['as a list', use(0, 'a', [1]), []],
  ['as null', use(0, 'a', null), ['/']],
])('input that comes %s is not lost', async (_what, block, urls) => {
  await converse(claude, [start() + block + end('tool_use'), done]);
  expect(asked).toEqual(urls);
});

const chunk = (rest: object): string => `data: ${JSON.stringify(rest)}\n\n`;
const delta = (value: object, finish_reason: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta: value, finish_reason }] });
const hi = delta({ content: 'Hi.' }, 'stop');

test.each([
  ['negative', { prompt_tokens: -1, completion_tokens: 5 }],
  ['text', 'many'],
  ['null', { prompt_tokens: null, completion_tokens: null }],
])('usage that is %s leaves the answer, and counts as unknown', async (_what, usage) => {
  const { output, usage: counted } = await converse(gpt, [hi + chunk({ choices: [], usage })]);
  expect(output).toMatchObject({ text_content: 'Hi.', data_content: { usage: null } });
  expect(counted).toBeUndefined();
});

test.each([
  ['negative', { input_tokens: -1 }],
  ['text', 'many'],
])('usage of a message that is %s leaves the answer', async (_what, usage) => {
  const { output } = await converse(claude, [start(usage) + text(0, 'Hi.') + end('end_turn', usage)]);
  expect(output).toMatchObject({ text_content: 'Hi.', data_content: { usage: null } });
});

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const withExtra = (extra: string): string =>
  `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"lookup"},"extra_content":${extra}}]},"finish_reason":"tool_calls"}]}\n\n`;

test.each([
  ['100,000 levels in an error', claude, `${start()}event: error\ndata: ${nested(100_000)}\n\n`],
  ['100,000 levels in a member that goes back', gpt, withExtra(nested(100_000))],
  ['100 levels in a member that goes back', gpt, withExtra(nested(100))],
  ['half a character in a member that goes back', gpt, withExtra(String.raw`{"a":"\ud800"}`)],
])('%s are an invalid answer', async (_what, server, body) => {
  await expect(converse(server, [body])).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  expect(asked).toEqual([]);
});

const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };
const json = (value: object): string => delta({ content: JSON.stringify(value) }, 'stop');

test('a repaired answer that calls a tool, which it was not offered, ends the step with its value', async () => {
  const call = { index: 0, id: 'a', function: { name: 'lookup', arguments: '{}' } };
  const repaired = delta({ content: '{"a":"x"}', tool_calls: [call] }, 'tool_calls');
  const { output } = await converse(gpt, [json({ a: 1 }), repaired], { outputSchema });
  expect(output.data_content).toMatchObject({ json: { a: 'x' } });
  expect(asked).toEqual([]);
});

test('members that the schema does not know are named in bounds, and without the key of the credential', async () => {
  const wrong = json({
    'test-secret': 1,
    ...Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, 1])),
  });
  const error: unknown = await converse(gpt, [wrong, wrong], { outputSchema }).catch(
    (thrown: unknown) => thrown,
  );
  const { message } = error as Error;
  expect(message).toContain('does not fit outputSchema');
  expect(message).not.toContain('test-secret');
  expect(message.length).toBeLessThan(2_000);
});
