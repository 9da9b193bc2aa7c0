import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import { PLAIN_REVISION } from '../../test/support/data/plainRevision.ts';
import { pollUntil } from '../../test/support/time/poll.ts';
import type { RunEvent } from '../../runs/types/event.ts';
import { createUnread } from '../limits/unread.ts';
import { problemType } from '../contract/problems.ts';
import { buildInternal } from '../server.ts';
import { eventText, stream } from './events.ts';

test('an event is one block, whatever its text contains', () => {
  const block = eventText({ id: '1-0', type: 'text', node: 'agent_1', text: 'a\n\ndata: b\r', at: 5 });
  expect(block).toBe('id: 1-0\nevent: text\ndata: {"node":"agent_1","text":"a\\n\\ndata: b\\r","at":5}\n\n');
});

test('a follower of a run counts as a waiting caller, at most half of them of one project', async () => {
  const { deps, close } = createGatewayDeps();
  const head = { workflow: 'orders', revision: 'orders-1', trigger: 'webhook', test: false };
  const fields = { phase: 'Running', accepted: '1', head: JSON.stringify(head) };
  const command = async (name: string) => (name === 'hgetall' ? fields : 0);
  const app = buildInternal({ ...deps, runs: { ...deps.runs, command } });
  const waiting = { destroyed: false, once: () => undefined } as unknown as ServerResponse;
  while (deps.limits.waiterLimit.enter('project', waiting));
  const { statusCode, json } = await app.inject('/workflows/shop.orders/runs/orders-1/events');
  expect([statusCode, json<{ type: string }>().type]).toEqual([503, problemType('too-many-waiting')]);
  await app.close();
  close();
});

test('without events a comment is sent every 15 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { deps, close } = createGatewayDeps();
  const head = { workflow: 'orders', revision: 'orders-1', trigger: 'webhook', test: false };
  const fields = { phase: 'Running', accepted: '1', head: JSON.stringify(head) };
  const answers: Record<string, unknown> = { hgetall: fields, get: JSON.stringify(PLAIN_REVISION) };
  const command = async (name: string) => answers[name] ?? 'Running';
  const subscriber = () => ({
    subscribe: async () => ({ end: () => undefined }),
    close: async () => undefined,
  });
  const app = buildInternal({ ...deps, runs: { ...deps.runs, command, subscriber, script: async () => [] } });
  try {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const draining = new AbortController();
    const answer = await fetch(`${address}/workflows/shop.orders/runs/orders-1/events`, {
      signal: draining.signal,
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let times = 0; times < 2; times += 1) {
      vi.advanceTimersByTime(15_000);
      expect(await reader?.read()).toEqual({ done: false, value: ': still here\n\n' });
    }
    draining.abort();
  } finally {
    vi.useRealTimers();
    await app.close();
    close();
  }
});

/** Follows a run of so many events of 10,000 characters; the reader reads nothing at first. */
async function openStream(events: number, unreadBytes: number) {
  let following = 0;
  const begun: string[] = [];
  async function* follow(after = '0'): AsyncGenerator<RunEvent> {
    begun.push(after);
    following += 1;
    try {
      for (let id = Number(after) + 1; id <= events; id += 1) {
        yield { id: String(id), type: 'text', node: 'agent', text: 'x'.repeat(10_000), at: 1 };
      }
    } finally {
      following -= 1;
    }
  }
  const unread = createUnread(unreadBytes);
  const server = createServer((_request, response) => {
    void stream(response, { after: undefined, follow, unread }).then(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const [answer] = (await once(get({ port, agent: false }), 'response')) as [IncomingMessage];
    return answer.on('error', () => undefined);
  };
  const stuck = () =>
    pollUntil('nobody to follow any more', () => begun.length > 0 && following === 0, { timeoutMs: 10_000 });
  const connections = () =>
    new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { open, stuck, connections, begun, [Symbol.asyncDispose]: close };
}

test('events are not buffered for a slow client, which gets each once later', async () => {
  const count = 3_000;
  await using stream = await openStream(count, 1_000_000);
  const answer = await stream.open();
  await stream.stuck();
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  const ids = Array.from(text.matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id));
  expect(ids).toEqual(Array.from({ length: count }, (_, index) => index + 1));
});

test('beyond the limit the clients that have not read for longest are disconnected', async () => {
  await using stream = await openStream(3_000, 1);
  for (let readers = 0; readers < 3; readers += 1) await stream.open();
  await pollUntil('one to be left', async () => (await stream.connections()) === 1, { timeoutMs: 10_000 });
  expect(stream.begun.length).toBeGreaterThanOrEqual(3);
});
