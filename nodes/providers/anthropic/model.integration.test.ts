import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { modelContext } from '../../../test/support/nodes/modelContext.ts';
import { anthropicWire } from '../../../test/support/providers/anthropic/wire.ts';
import { startScriptedServer } from '../../../test/support/providers/model/scriptedServer.ts';
import type { ModelMessage, ModelRequest } from '../../contract/model.ts';
import { anthropicModels } from './model.ts';

const server = await startScriptedServer(anthropicWire);
afterAll(() => server.close());
afterEach(() => {
  vi.restoreAllMocks();
});

const question: ModelMessage = { role: 'user', text: 'Hello' };

function ask(given: Partial<ModelRequest> = {}) {
  const apiKeyRef = { name: 'llm', key: 'apiKey' };
  return anthropicModels.ask(
    { model: 'claude-1', messages: [question], tools: [], ...given },
    modelContext({ anthropic: { baseURL: server.url, apiKeyRef } }),
  );
}

const bodies = () => server.requests.map(({ body }) => body);

test.each<[string, Partial<ModelRequest>, string]>([
  ['newest version', {}, '2026-10-21'],
  ['version that takes temperatures', { temperature: 0 }, '2023-06-01'],
  ['version that takes temperatures', { options: { top_k: 5 } }, '2023-06-01'],
])('the %s of the API is asked: %#', async (_name, given, version) => {
  server.script({ message: { text: 'Hi.' } });
  await ask(given);
  expect(server.requests[0]!.headers['anthropic-version']).toBe(version);
});

test('a limit of tokens is always sent, and leaves room for thinking', async () => {
  server.script({ message: { text: 'Hi.' } }, { message: { text: 'Hi.' } });
  await ask();
  await ask({ reasoningEffort: 'High' });
  expect(bodies()).toMatchObject([
    { max_tokens: 4_096 },
    { max_tokens: 16_384, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ]);
});

test('a model that thinks by a number of tokens alone is asked that way', async () => {
  server.script(
    { status: 400, text: "adaptive thinking is not supported on this model: use 'enabled'" },
    { message: { text: 'Hi.' } },
  );
  await ask({ reasoningEffort: 'Medium', maxTokens: 3_000 });
  expect(bodies()[1]).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2_999 } });
  expect(bodies()[1]).not.toHaveProperty('output_config');
});

test('a model without effort is asked without it, and keeps the schema', async () => {
  server.script(
    { status: 400, text: 'This model does not support the effort parameter.' },
    { message: { text: '{}' } },
  );
  const outputSchema = { type: 'object' };
  await ask({ reasoningEffort: 'Low', outputSchema });
  expect(bodies()[1]).toMatchObject({ output_config: { format: { schema: outputSchema } } });
  expect(bodies()[1]).not.toHaveProperty('output_config.effort');
});

test('results of tools stand together, before the text of the user, and odd ids are made fit', async () => {
  server.script({ message: { text: 'Hi.' } });
  const toolCalls = ['a:1', 'b'].map((id) => ({ id, name: 'add', arguments: '{"a":1}' }));
  await ask({
    messages: [
      question,
      { role: 'assistant', text: '', toolCalls },
      { role: 'tool', callId: 'a:1', text: '3', isError: false },
      { role: 'tool', callId: 'b', text: 'broken', isError: true },
      { role: 'user', text: 'Go on.' },
    ],
  });
  const [, assistant, results] = bodies()[0]!['messages'] as { role: string; content: object[] }[];
  expect(assistant?.content).toMatchObject([
    { type: 'tool_use', id: 'a_1', input: { a: 1 } },
    { type: 'tool_use', id: 'b' },
  ]);
  expect(results).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'a_1', content: '3' },
      { type: 'tool_result', tool_use_id: 'b', content: 'broken', is_error: true },
      { type: 'text', text: 'Go on.' },
    ],
  });
});

test('thinking stays in its place among texts and calls', async () => {
  const calls = [{ id: 'a', name: 'add', arguments: '{"a":1}' }];
  server.script({ message: { signature: 'sig', text: 'I add.', calls } }, { message: { text: 'Three.' } });
  const first = await ask();
  const result: ModelMessage = { role: 'tool', callId: 'a', text: '3', isError: false };
  await ask({ messages: [question, { role: 'assistant', ...first }, result] });
  const [, assistant] = bodies()[1]!['messages'] as { content: object[] }[];
  expect(assistant?.content).toEqual([
    { type: 'thinking', thinking: 'Let me think.', signature: 'sig' },
    { type: 'text', text: 'I add.' },
    { type: 'tool_use', id: 'a', name: 'add', input: { a: 1 } },
  ]);
});

test('the library writes nothing to the console', async () => {
  const warn = vi.spyOn(console, 'warn');
  const error = vi.spyOn(console, 'error');
  server.script(
    { message: { text: 'Hi.' } },
    { body: 'event: x\ndata: {"secret\n\n', type: 'text/event-stream' },
  );
  await ask({ model: 'claude-sonnet-4-5', options: { thinking: { type: 'enabled', budget_tokens: 1_024 } } });
  await expect(ask()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  expect(warn).not.toHaveBeenCalled();
  expect(error).not.toHaveBeenCalled();
});
