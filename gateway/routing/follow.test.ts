import { afterEach, expect, test, vi } from 'vitest';
import { encodeKeys, entryName } from '../../api/webhookAuth.ts';
import { ApiError } from '../../kube/errors.ts';
import type { KubeObject, Secret } from '../../kube/resource.ts';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { createRouteFeed } from './follow.ts';
import { createRouteTable } from './table.ts';

const FIRST = '1111111111111111';
const SECOND = '2222222222222222';

type Answer = Secret | undefined | Error;

const ended: AbortController[] = [];
afterEach(() => {
  for (const one of ended.splice(0)) one.abort();
  vi.useRealTimers();
});

/** A feed whose reads of Secrets are answered one by one. */
function setUp() {
  const table = createRouteTable();
  const reads: { name: string; answer: (given: Answer) => Promise<void> }[] = [];
  const stop = new AbortController();
  ended.push(stop);
  const find = (_resource: unknown, ref: { namespace?: string; name: string }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Secret | undefined>();
    reads.push({
      name: `${ref.namespace}/${ref.name}`,
      answer: async (given) => {
        if (given instanceof Error) reject(given);
        else resolve(given);
        await promise.catch(() => undefined);
        // What waits for the read goes on in turns of its own.
        await new Promise(setImmediate);
      },
    });
    return promise as Promise<never>;
  };
  const feed = createRouteFeed({
    client: { find },
    table,
    onChange: () => undefined,
    log: createCollectedLog(),
    signal: stop.signal,
  });
  const served = () => {
    const route = table.webhook('shop.orders/new');
    return route && `${route.generation} ${route.auth.kind}`;
  };
  return { feed, table, reads, served };
}

/** The route; `material` undefined: exposed, empty: no secret is there. */
function route(generation: number, material?: string): KubeObject {
  const verify = {
    secretRefs: [{ name: 'hooks', key: 'token' }],
    toleranceSeconds: 300,
    ...(material !== '' && { material }),
  };
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WebhookRoute',
    metadata: { name: 'orders', namespace: 'shop', uid: 'u1', generation },
    spec: {
      workflow: 'orders',
      workflowUID: 'w1',
      projectUID: 'p1',
      revision: 'orders-1',
      trigger: 'webhook',
      active: true,
      webhook: {
        path: 'new',
        reply: false,
        replyTimeoutSeconds: 30,
        ...(material !== undefined && { access: 'bearer', verify }),
      },
    },
  };
}

function secret(...materials: string[]): Secret {
  const keys = Buffer.from(encodeKeys([Buffer.from('token')])).toString('base64');
  const data = Object.fromEntries(materials.map((material) => [entryName('w1', material), keys]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'windlass-webhooks' }, data };
}

const away = new ApiError({ status: 503, reason: 'ServiceUnavailable', message: 'away' });

test('a new route refuses everybody until its keys are read from the Secret of its project', async () => {
  const { feed, reads, served, table } = setUp();
  feed.put(route(1, FIRST));
  expect(served()).toBe('1 closed');
  expect(table.waiting()).toEqual(['u1']);
  expect(reads.map(({ name }) => name)).toEqual(['shop/windlass-webhooks']);
  await reads[0]?.answer(secret(FIRST));
  expect(served()).toBe('1 verified');
  expect(table.waiting()).toEqual([]);
});

test('while new keys are read, the previous route is served', async () => {
  const { feed, reads, served } = setUp();
  feed.put(route(1, FIRST));
  await reads[0]?.answer(secret(FIRST));
  feed.put(route(2, SECOND));
  expect(served()).toBe('1 verified');
  await reads[1]?.answer(secret(FIRST, SECOND));
  expect(served()).toBe('2 verified');
});

test.each([
  ['are not there', secret(FIRST)],
  ['cannot be read', away],
  ['have no Secret', undefined],
])('keys that %s close the route, and are read again', async (_what, answer) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { feed, reads, served, table } = setUp();
  feed.put(route(1));
  feed.put(route(2, SECOND));
  expect(served()).toBe('1 public');
  await reads[0]?.answer(answer);
  expect(served()).toBe('2 closed');
  expect(table.waiting()).toEqual(['u1']);
  expect(reads).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  expect(reads).toHaveLength(2);
  await reads[1]?.answer(secret(SECOND));
  expect(served()).toBe('2 verified');
});

test('a route whose secret is missing is closed at once, whatever keys it had', async () => {
  const { feed, reads, served, table } = setUp();
  feed.put(route(1, FIRST));
  await reads[0]?.answer(secret(FIRST));
  feed.put(route(2, ''));
  expect(served()).toBe('2 closed');
  expect(table.waiting()).toEqual([]);
  feed.put(route(3, FIRST));
  expect(reads).toHaveLength(2);
});

test('a change without keys takes effect at once, and a late answer changes nothing', async () => {
  const { feed, reads, served } = setUp();
  feed.put(route(1, FIRST));
  feed.put(route(2));
  expect(served()).toBe('2 public');
  await reads[0]?.answer(secret(FIRST));
  expect(served()).toBe('2 public');
});

test('entries wanted during a read are read after it, since its answer may be older', async () => {
  const { feed, reads, served } = setUp();
  feed.put(route(1, FIRST));
  feed.put(route(2, SECOND));
  expect(reads).toHaveLength(1);
  await reads[0]?.answer(secret(FIRST));
  expect(served()).toBe('1 closed');
  expect(reads).toHaveLength(2);
  await reads[1]?.answer(secret(SECOND));
  expect(served()).toBe('2 verified');
});

test('a deleted route is not served when its keys arrive', async () => {
  const { feed, reads, served, table } = setUp();
  feed.put(route(1, FIRST));
  feed.remove(route(1, FIRST));
  await reads[0]?.answer(secret(FIRST));
  expect(served()).toBeUndefined();
  expect(table.size()).toBe(0);
});

test('the feed is settled when all readable keys were read', async () => {
  const { feed, reads } = setUp();
  feed.put(route(1, FIRST));
  let isSettled = false;
  const settled = feed.settled().then(() => {
    isSettled = true;
    return undefined;
  });
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  await reads[0]?.answer(undefined);
  await settled;
  expect(isSettled).toBe(true);
});
