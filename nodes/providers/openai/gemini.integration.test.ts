/** What differs in Gemini's compatible API, beyond the conformance suite. */
import { afterAll, expect, test } from 'vitest';
import type { StepError } from '../../../api/reasons.ts';
import { modelContext } from '../../../test/support/nodes/modelContext.ts';
import { startScriptedServer } from '../../../test/support/providers/model/scriptedServer.ts';
import { geminiWire } from '../../../test/support/providers/openai/geminiWire.ts';
import type { ModelRequest } from '../../contract/model.ts';
import { openaiModels } from './model.ts';

const server = await startScriptedServer(geminiWire);
afterAll(() => server.close());

function ask(given: Partial<ModelRequest> = {}) {
  const apiKeyRef = { name: 'llm', key: 'apiKey' };
  return openaiModels.ask(
    { model: 'gemini-1', messages: [{ role: 'user', text: 'Hello' }], tools: [], ...given },
    modelContext({ openai: { baseURL: `${server.url}/v1beta/openai`, apiKeyRef } }),
  );
}

test('keywords of JSON Schema that it does not know are left out, and properties of their names stay', async () => {
  server.script(
    {
      status: 400,
      text: `Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0].function.parameters': Cannot find field.
Invalid JSON payload received. Unknown name "default" at 'tools[0].function.parameters.properties[0].value': Cannot find field.`,
    },
    { message: { text: 'Hi.' } },
  );
  const inputSchema = {
    type: 'object',
    properties: {
      default: { type: 'string', default: 'x' },
      list: { items: { additionalProperties: false } },
    },
    additionalProperties: false,
  };
  await ask({ tools: [{ name: 't', description: 'd', inputSchema }] });
  expect(server.requests[1]!.body['tools']).toEqual([
    {
      type: 'function',
      function: {
        name: 't',
        description: 'd',
        parameters: { type: 'object', properties: { default: { type: 'string' }, list: { items: {} } } },
      },
    },
  ]);
});

test('a member that no schema has is no reason to ask again', async () => {
  server.script({ status: 400, text: 'Unknown name "service_tier": Cannot find field.' });
  await expect(ask({ options: { service_tier: 'flex' } })).rejects.toMatchObject({ reason: 'Refused' });
  expect(server.requests).toHaveLength(1);
});

test('a rate limit says in the body how long to wait', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
  server.script({ status: 429, text: 'Quota exceeded.', details });
  const error = await ask().catch((error: unknown) => error as StepError);
  expect(error).toMatchObject({ reason: 'RateLimited', retryAfterMs: 34_500 });
  expect((error as StepError).message).toContain('Quota exceeded.');
});

test('a key that is refused with status 400 is a refused key', async () => {
  server.script({ status: 400, text: 'API key not valid. Please pass a valid API key.' });
  await expect(ask()).rejects.toMatchObject({ reason: 'CredentialRejected', retryable: false });
});
