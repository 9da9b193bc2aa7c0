/** Providers of models against a server that others wrote (`@copilotkit/aimock`). */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { checkCredential } from '../../nodes/checks.ts';
import type { ModelAnswer, ModelMessage, ModelRequest } from '../../nodes/contract/model.ts';
import { Secret } from '../../nodes/contract/secret.ts';
import { findProvider } from '../../nodes/providers/register.ts';
import { modelContext } from '../support/nodes/modelContext.ts';
import { localEgress } from '../support/nodes/stepContext.ts';

const apiKeyRef = { name: 'llm', key: 'apiKey' };
const tools = [
  {
    name: 'get_weather',
    description: 'The weather of a city',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const toolCalls = ['Berlin', 'Paris'].map((city) => {
  return { id: `call_${city}`, name: 'get_weather', arguments: JSON.stringify({ city }) };
});

const mock = new LLMock({ port: 0 });
beforeAll(async () => {
  mock.on(
    { userMessage: 'think', hasToolResult: false },
    { content: '', toolCalls, reasoning: 'Hm.', reasoningSignature: 'c2ln' },
  );
  mock.on({ userMessage: 'weather', hasToolResult: false }, { toolCalls });
  mock.on({ hasToolResult: true }, { content: 'Sunny in both.' });
  mock.onMessage('mood', { content: '{"mood":"good"}' });
  mock.onMessage('hello', { content: 'Hello from the mock, in some words.' });
  await mock.start();
});
afterAll(() => mock.stop());

const credentials: [title: string, model: string, spec: () => CredentialSpec][] = [
  ['openai', 'gpt-4o', () => ({ openai: { baseURL: `${mock.url}/v1`, apiKeyRef } })],
  [
    'openai (Gemini)',
    'gemini-2.5-flash',
    () => ({ openai: { baseURL: `${mock.url}/v1beta/openai`, apiKeyRef } }),
  ],
  [
    'openai (Azure OpenAI)',
    'my-deployment',
    () => ({ openai: { baseURL: `${mock.url}/openai/v1`, apiKeyRef } }),
  ],
  ['anthropic', 'claude-sonnet-4-5', () => ({ anthropic: { baseURL: mock.url, apiKeyRef } })],
];

describe.each(credentials)('%s', (_title, model, spec) => {
  async function ask(
    messages: ModelMessage[],
    texts: string[] = [],
    more: Partial<ModelRequest> = {},
  ): Promise<ModelAnswer> {
    const provider = await findProvider(spec(), 'model')!.model();
    return provider.ask(
      { model, messages, tools, ...more },
      modelContext(spec(), {
        emitText: (text) => texts.push(text),
        patience: { firstChunkMs: 10_000, idleMs: 10_000 },
      }),
    );
  }

  test('an answer fits the schema that was asked for', async () => {
    const outputSchema = {
      type: 'object',
      properties: { mood: { type: 'string' } },
      required: ['mood'],
      additionalProperties: false,
    };
    const answer = await ask([{ role: 'user', text: 'mood' }], [], { outputSchema });
    expect(JSON.parse(answer.text)).toEqual({ mood: 'good' });
  });

  test('a text comes in pieces', async () => {
    const texts: string[] = [];
    const answer = await ask([{ role: 'user', text: 'hello' }], texts);
    expect(answer).toMatchObject({
      text: 'Hello from the mock, in some words.',
      toolCalls: [],
      isCut: false,
    });
    expect(answer.usage).not.toBeNull();
    expect(texts.join('')).toBe(answer.text);
  });

  test.each(['weather', 'think'])(
    'parallel tool calls come whole, and their results go back (%s)',
    async (text) => {
      const question: ModelMessage = { role: 'user', text };
      const first = await ask([question]);
      expect(first.toolCalls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual([
        ['get_weather', { city: 'Berlin' }],
        ['get_weather', { city: 'Paris' }],
      ]);
      const results = first.toolCalls.map(({ id }): ModelMessage => {
        return { role: 'tool', callId: id, text: 'sunny', isError: false };
      });
      const second = await ask([question, { role: 'assistant', ...first }, ...results]);
      expect(second).toMatchObject({ text: 'Sunny in both.', toolCalls: [] });
    },
  );
});

test.each([
  ['openai', () => ({ openai: { baseURL: `${mock.url}/v1`, apiKeyRef } })],
  ['openai (Azure OpenAI)', () => ({ openai: { baseURL: `${mock.url}/openai/v1`, apiKeyRef } })],
  ['anthropic', () => ({ anthropic: { baseURL: mock.url, apiKeyRef } })],
])('the check of a credential lists the models (%s)', async (_title, spec) => {
  const credential = { name: 'llm', spec: spec(), secret: () => new Secret('key') };
  const { signal } = new AbortController();
  const found = await checkCredential(credential, { egress: localEgress, signal });
  expect(found).toMatchObject({ works: true, models: expect.arrayContaining(['gpt-4o']) as string[] });
});
