import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEntry } from '../../api/audit/line.ts';
import { createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import { buildInternal } from '../server.ts';

const OWN = 'console.example.com';
let app: FastifyInstance;
let close: () => void;
const recorded: AuditEntry[] = [];

beforeAll(() => {
  const settings = {
    dir: '/no/console',
    url: `https://${OWN}`,
    idleMs: 3_600_000,
    oidc: undefined,
    helpMeBuild: false,
  };
  const made = createGatewayDeps({
    console: settings,
    audit: { record: (entry) => void recorded.push(entry), close: () => undefined },
  });
  close = made.close;
  app = buildInternal(made.deps);
});
afterAll(async () => {
  await app.close();
  close();
});

const statusAt = async (url: string, host: string) =>
  (await app.inject({ url, headers: { host } })).statusCode;

test.each([
  '/console',
  '/console/',
  '/console/p/shop/workflows',
  '/console/session',
  '/console/links',
  '/console/link/abc',
  '/console/projects',
  '/console/live',
  '/%63onsole/session',
  '/kube/api/v1/namespaces',
  '/%6bube/api/v1/namespaces',
])('%s answers only at the host of the console', async (url) => {
  for (const host of ['evil.example', '127.0.0.1:8081', `${OWN}:8081`])
    expect(await statusAt(url, host)).toBe(421);
  expect(await statusAt(url, OWN)).not.toBe(421);
});

test.each(['/healthz', '/readyz', '/openapi.json', '/workflows/shop.orders/runs', '/consoles', '/nothing'])(
  '%s answers at every host',
  async (url) => {
    for (const host of ['10.0.0.7:8081', 'windlass-gateway-internal.windlass-system.svc', OWN])
      expect(await statusAt(url, host)).not.toBe(421);
  },
);

test.each([
  ['POST', '/console/session', 'session.create'],
  ['DELETE', '/console/session', 'session.delete'],
  ['POST', '/console/links', 'session.link'],
  ['POST', '/console/link/abc', 'session.create'],
  ['GET', '/console/projects', 'object.read'],
  ['POST', '/console/live', 'object.read'],
  ['GET', '/kube/api/v1/namespaces', 'object.read'],
  ['PATCH', '/kube/apis/windlass.dev/v1alpha1/namespaces/shop/workflows/orders', 'object.update'],
  ['GET', '/console/session', undefined],
  ['GET', '/console/', undefined],
] as const)('%s %s at another host is recorded as %s', async (method, url, event) => {
  recorded.length = 0;
  await app.inject({ method, url, headers: { host: 'evil.example' } });
  expect(recorded).toMatchObject(
    event === undefined ? [] : [{ event, result: 'denied', reason: 'misdirected-request' }],
  );
});

test('a refusal says what to do, and repeats nothing of the request', async () => {
  const answer = await app.inject({ url: '/console/', headers: { host: 'evil.example' } });
  expect(answer.json()).toMatchObject({
    type: 'tag:windlass.dev,2026:problem/misdirected-request',
    status: 421,
  });
  expect(answer.body).not.toContain('evil');
});
