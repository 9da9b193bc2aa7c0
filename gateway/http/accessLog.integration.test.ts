import { once } from 'node:events';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { createAudit } from '../../api/audit/audit.ts';
import { createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { createAccessLog } from './accessLog.ts';
import type { AccessDecision } from '../access/access.ts';
import { listen } from '../listen.ts';
import { buildInternal, buildPublic } from '../server.ts';

type Line = Record<string, unknown>;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of closers.splice(0)) await end();
});

/** The listeners, with a log of each kind, where `decided` is what becomes of each caller. */
async function start({
  sample = 1,
  decided = {},
}: {
  sample?: number;
  decided?: Partial<AccessDecision>;
} = {}) {
  const clock = createManualClock();
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  const { deps, close } = createGatewayDeps();
  const authorize = async (): Promise<AccessDecision> => ({ decision: 'allowed', ...decided });
  Object.assign(deps, {
    access: { ...deps.access, authorize },
    audit: createAudit({ source: { program: 'gateway', pod: 'one' }, write, clock }),
    accessLog: createAccessLog({
      pod: 'one',
      sample,
      addresses: deps.limits.addresses,
      write,
      clock,
      random: () => 0.5,
    }),
  });
  const open = async (app: FastifyInstance): Promise<number> => {
    const port = await listen(app, 0, '127.0.0.1');
    closers.push(() => app.close());
    return port;
  };
  const [outside, inside] = [await open(buildPublic(deps)), await open(buildInternal(deps))];
  closers.push(close);
  const named = (name: string): Line[] => lines.filter((line) => line['name'] === name);
  return {
    clock,
    outside,
    inside,
    accesses: () => named('windlass.access'),
    audits: () => named('windlass.audit'),
  };
}

const call = (port: number, path: string, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, init);

test("each request has one line after its answer, with the route's pattern instead of its path", async () => {
  const { inside, accesses } = await start();
  const answer = await call(inside, '/openapi.json?token=secret');
  const { length } = await answer.text();
  await expect.poll(accesses).toEqual([
    {
      time: '2026-01-01T00:00:00.000Z',
      name: 'windlass.access',
      program: 'gateway',
      pod: 'one',
      listener: 'internal',
      request: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/) as string,
      method: 'GET',
      route: '/openapi.json',
      status: 200,
      bytes: expect.toSatisfy((bytes: number) => bytes >= length) as number,
      durationMs: 0,
      address: '127.0.0.1',
    },
  ]);
});

test('the instance of a problem is the request ID in the access log and audit trail', async () => {
  const { inside, accesses, audits } = await start({ decided: { decision: 'forbidden' } });
  const answer = await call(inside, '/workflows/shop.orders/execute', { method: 'POST' });
  const { instance: request } = (await answer.json()) as { instance: string };
  const route = '/workflows/:id/execute';
  await expect.poll(accesses).toMatchObject([{ request, status: 403, problem: 'forbidden', route }]);
  expect(audits()).toMatchObject([{ request, event: 'run.execute', result: 'denied', address: '127.0.0.1' }]);
});

test('the line of a webhook call names workflow and project, and nothing of the path', async () => {
  const { outside, accesses } = await start();
  await call(outside, '/webhook/shop.orders/new', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":',
  });
  await expect.poll(accesses).toMatchObject([
    {
      listener: 'public',
      route: '/webhook/*',
      project: 'shop',
      workflow: 'shop.orders',
      problem: 'bad-json',
    },
  ]);
});

test('a request that the parser refused is found by its instance, too', async () => {
  const { outside, accesses } = await start();
  const socket = connect(outside, '127.0.0.1');
  socket.end('NO HTTP\r\n\r\n');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const [request] = /urn:uuid:[0-9a-f-]{36}/.exec(Buffer.concat(chunks).toString()) ?? [];
  expect(request).toBeDefined();
  expect(accesses()).toMatchObject([{ request, status: 400, problem: 'bad-request', address: '127.0.0.1' }]);
});

test('successful requests are sampled', async () => {
  const none = await start({ sample: 0.4 });
  const all = await start({ sample: 0.6 });
  for (const { inside } of [none, all]) await (await call(inside, '/openapi.json')).text();
  await expect.poll(all.accesses).toHaveLength(1);
  expect(none.accesses()).toEqual([]);
});

test('problems are logged without sampling, at a bounded rate, and left-out lines are counted', async () => {
  const { inside, clock, accesses } = await start({ sample: 0 });
  for (let round = 0; round < 15; round += 1)
    await Promise.all(
      Array.from({ length: 10 }, async () => (await call(inside, `/nothing-${round}`)).arrayBuffer()),
    );
  await expect.poll(() => clock.timers()).toBe(1);
  expect(accesses()).toHaveLength(100);
  await clock.advance(10_000);
  expect(accesses().at(-1)).toEqual(expect.objectContaining({ leftOut: 50 }));
});
