/** A tool that hangs: its own timeout ends the call, and the model is told. */
import { afterAll, expect, test, vi } from 'vitest';
import type { RevisionStep } from '../api/revision.ts';
import { Secret } from '../nodes/contract/secret.ts';
import { listen } from '../test/support/network/listen.ts';
import { agentCalls } from '../test/support/nodes/agentCalls.ts';
import { stepContext } from '../test/support/nodes/stepContext.ts';
import { startModelServer } from '../test/support/providers/model/modelServer.ts';
import { attemptStep, type Attempt } from './attempt.ts';

const model = await startModelServer();
const hanging = Promise.withResolvers<void>();
const hungUp = Promise.withResolvers<void>();
const api = await listen((_request, response) => {
  response.once('close', () => hungUp.resolve());
  hanging.resolve();
});
afterAll(async () => {
  vi.useRealTimers();
  await Promise.all([model.close(), api.close()]);
});

test('a tool that hangs ends after 60 s, and the model is told', async () => {
  const spec = { openai: { baseURL: model.baseURL, apiKeyRef: { name: 'llm', key: 'apiKey' } } };
  const context = stepContext(spec);
  const tools = [{ name: 'hang', skill: 'http_request', parameters: { url: api.url } }];
  const agent = { credential: 'llm', model: 'demo', prompt: 'call hang {}', tools };
  const calls = agentCalls(context);
  const get = async (name: string) => ({ name, spec, secret: () => new Secret('test-secret') });
  const attempt = {
    ...context,
    step: { id: 'a', kind: 'agent', agent, timeoutMs: 600_000 } as unknown as RevisionStep,
    fields: { tools: [{ url: api.url }] },
    credentials: { get, fresh: get, hasChanged: async () => false },
    beginText: () => undefined,
    calls,
  } as unknown as Attempt;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const result = attemptStep(attempt, new AbortController().signal);
  await hanging.promise;
  vi.advanceTimersByTime(60_000);
  await hungUp.promise;
  expect((await result).output.text_content).toContain(
    'Timeout: the tool took longer than its timeout of 60 s',
  );
});
