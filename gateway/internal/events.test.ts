import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { createGatewayDeps } from '../../test/support/gatewayDeps.ts';
import { problemType } from '../problems.ts';
import { buildInternal } from '../server.ts';
import { eventText } from './events.ts';

test('an event is one block whatever its text holds', () => {
  const block = eventText({ id: '1-0', type: 'text', node: 'agent_1', text: 'a\n\ndata: b\r', at: 5 });
  expect(block).toBe('id: 1-0\nevent: text\ndata: {"node":"agent_1","text":"a\\n\\ndata: b\\r","at":5}\n\n');
});

test('who follows a run waits for it, and takes the place of one who waits: of one project no more than half', async () => {
  const { deps, close } = createGatewayDeps();
  const head = { workflow: 'orders', revision: 'orders-1', trigger: 'webhook', test: false };
  const fields = { phase: 'Running', accepted: '1', head: JSON.stringify(head) };
  const command = async (name: string) => (name === 'hgetall' ? fields : 0);
  const app = buildInternal({ ...deps, runs: { ...deps.runs, command } });
  const waiting = { destroyed: false, once: () => undefined } as unknown as ServerResponse;
  while (deps.limits.waits.enter('project', waiting));
  const { statusCode, json } = await app.inject('/workflows/shop.orders/runs/orders-1/events');
  expect([statusCode, json<{ type: string }>().type]).toEqual([503, problemType('too-many-waiting')]);
  await app.close();
  close();
});

test('while nothing happens a comment is sent every 15 s, so that nobody takes the stream for dead', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { deps, close } = createGatewayDeps();
  const head = { workflow: 'orders', revision: 'orders-1', trigger: 'webhook', test: false };
  const fields = { phase: 'Running', accepted: '1', head: JSON.stringify(head) };
  const command = async (name: string) => (name === 'hgetall' ? fields : 'Running');
  const subscriber = () => ({
    subscribe: async () => ({ end: () => undefined }),
    close: async () => undefined,
  });
  const app = buildInternal({ ...deps, runs: { ...deps.runs, command, subscriber, script: async () => [] } });
  try {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const leaving = new AbortController();
    const answer = await fetch(`${address}/workflows/shop.orders/runs/orders-1/events`, {
      signal: leaving.signal,
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let times = 0; times < 2; times += 1) {
      vi.advanceTimersByTime(15_000);
      expect(await reader?.read()).toEqual({ done: false, value: ': still here\n\n' });
    }
    leaving.abort();
  } finally {
    vi.useRealTimers();
    await app.close();
    close();
  }
});
