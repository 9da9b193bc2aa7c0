/**
 * Caches that follow a real API server, through a faults that misbehaves. Each test has its own namespace and
 * faults.
 */
import { afterAll, beforeAll, describe, expect, test as plainTest } from 'vitest';
import { createCache, type Cache, type CacheOptions, type Change } from '../../../kube/cache.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { done, runController, watchInto, type Key } from '../../../kube/controller.ts';
import { createQueue } from '../../../kube/queue.ts';
import type { ReflectorOutcome } from '../../../kube/reflector.ts';
import { configMaps, namespaces, type ConfigMap } from '../../../kube/resource.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { isList, isWatch, startKubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import { pollUntil } from '../../support/time/poll.ts';

let server: ApiServer;
let direct: KubeClient;
let harnesses = 0;

beforeAll(async () => {
  server = await sharedApiServer();
  direct = createClient(server.connection);
}, 600_000);

afterAll(async () => {
  await direct?.close();
  await server?.stop();
});

type Harness = Awaited<ReturnType<typeof createHarness>>;

const test = plainTest.extend<{ harness: Harness }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern that nothing else is needed
  harness: async ({}, use) => {
    const harness = await createHarness(`cache-${(harnesses += 1)}`);
    await use(harness);
    await harness.end();
  },
});

async function createHarness(namespace: string) {
  const faults = await startKubeApiFaults(server.connection);
  const client = createClient(faults.connection);
  const log = createCollectedLog();
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const outcomes: ReflectorOutcome[] = [];
  await direct.create(namespaces, { metadata: { name: namespace } });

  return {
    namespace,
    faults,
    client,
    log,
    stop,
    running,
    outcomes,
    follow: async (more: Partial<CacheOptions<ConfigMap>> = {}): Promise<Cache<ConfigMap>> => {
      const onOutcome = (outcome: ReflectorOutcome): void => {
        outcomes.push(outcome);
      };
      const cache = createCache({ client, resource: configMaps, namespace, log, onOutcome, ...more });
      running.push(cache.start(stop.signal));
      await cache.synced;
      return cache;
    },
    put: (name: string, value = ''): Promise<ConfigMap> =>
      direct.apply(configMaps, { metadata: { namespace, name }, data: { value } }),
    remove: (name: string): Promise<boolean> => direct.delete(configMaps, { namespace, name }),
    watchIsOpen: (): Promise<boolean> =>
      pollUntil('an open watch', () => faults.openWatches() > 0, { timeoutMs: 20_000, everyMs: 10 }),
    lists: (): number => faults.seen.filter(isList).length,
    watches: (): number => faults.seen.filter(isWatch).length,
    end: async (): Promise<void> => {
      stop.abort();
      await Promise.all(running);
      await client.close();
      await faults.stop();
    },
  };
}

function names(cache: Cache<ConfigMap>): string[] {
  return cache.list().map(({ metadata }) => metadata.name);
}

function valueIs(cache: Cache<ConfigMap>, name: string, value: string, timeoutMs: number): Promise<boolean> {
  const isSo = (): boolean =>
    cache.list().some(({ metadata, data }) => metadata.name === name && data?.['value'] === value);
  return pollUntil(`${name}=${value} in the cache`, isSo, { timeoutMs, everyMs: 10 });
}

function told(change: Change<ConfigMap>): string {
  const { name } = change.object.metadata;
  const before = change.type === 'updated' ? `${change.old.data?.['value']}>` : '';
  return `${change.type} ${name}=${before}${change.object.data?.['value']}`;
}

describe.concurrent('a cache', () => {
  // The slowest first, so that the others run beside it.
  test('a watch that goes silent is found out, and a change is seen within 30 s, at most 10 requests a minute', async ({
    harness,
  }) => {
    const { faults, outcomes, follow, put, watchIsOpen, lists } = harness;
    const cache = await follow();
    await watchIsOpen();
    faults.silenceWatches();
    const silentAt = performance.now();
    const before = faults.seen.length;
    await put('a', 'one');
    await valueIs(cache, 'a', 'one', 30_000);
    expect(performance.now() - silentAt).toBeGreaterThan(15_000);
    expect(faults.seen.length - before).toBeLessThanOrEqual(3);
    expect(outcomes).toEqual(['listed', 'stalled']);
    expect(lists()).toBe(1);
  }, 45_000);

  test('it holds what is there, follows what happens, and tells each handler all of it', async ({
    harness,
  }) => {
    const { namespace, follow, put, remove } = harness;
    await put('a', 'one');
    const cache = await follow();
    const changes: string[] = [];
    cache.onChange((change) => changes.push(told(change)));
    await put('a', 'two');
    await put('b', 'one');
    await remove('a');
    await pollUntil('the deletion', () => cache.get(namespace, 'a') === undefined, { timeoutMs: 20_000 });
    expect(changes).toEqual(['added a=one', 'updated a=one>two', 'added b=one', 'deleted a=two']);
    expect(names(cache)).toEqual(['b']);
    expect(cache.get(namespace, 'b')?.metadata.managedFields).toBeUndefined();
  });

  test('indexes and the transformation see every object', async ({ harness }) => {
    const { namespace, follow, put } = harness;
    const cache = await follow({
      indexes: { value: ({ data }) => [data?.['value'] ?? ''] },
      transform: (object) => ({ ...object, metadata: { ...object.metadata, annotations: { seen: 'yes' } } }),
    });
    await put('a', 'one');
    await put('b', 'two');
    await valueIs(cache, 'b', 'two', 5_000);
    expect(cache.byIndex('value', 'one').map(({ metadata }) => metadata.name)).toEqual(['a']);
    await put('a', 'two');
    await valueIs(cache, 'a', 'two', 5_000);
    expect(cache.byIndex('value', 'one')).toEqual([]);
    expect(cache.byIndex('value', 'two')).toHaveLength(2);
    expect(cache.get(namespace, 'a')?.metadata.annotations).toEqual({ seen: 'yes' });
  });

  test.for([
    { how: 'an answer 410', reply: { status: 410, body: { kind: 'Status', code: 410, reason: 'Expired' } } },
    {
      how: 'an ERROR event',
      reply: {
        lines: [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }],
        finish: 'end' as const,
      },
    },
  ])(
    'after $how that its version expired it lists again and misses nothing, within 5 s',
    async ({ reply }, { harness }) => {
      const { faults, follow, put, remove, watchIsOpen, lists } = harness;
      await put('gone', 'x');
      const cache = await follow();
      const changes: string[] = [];
      cache.onChange((change) => changes.push(told(change)));
      await watchIsOpen();
      faults.script(isWatch, reply);
      faults.resetWatches();
      await remove('gone');
      await put('new', 'x');
      const seen = (): boolean => names(cache).join() === 'new';
      await pollUntil('the new state', seen, { timeoutMs: 5_000, everyMs: 10 });
      expect(changes).toEqual(['added gone=x', 'added new=x', 'deleted gone=x']);
      expect(lists()).toBe(2);
    },
  );

  test('after a reset it goes on where it was, within 5 s and without a list', async ({ harness }) => {
    const { faults, follow, put, watchIsOpen, lists } = harness;
    const cache = await follow();
    for (const value of ['one', 'two', 'three']) {
      await watchIsOpen();
      faults.resetWatches();
      await put('a', value);
      await valueIs(cache, 'a', value, 5_000);
    }
    expect(lists()).toBe(1);
  });

  test.for([
    { name: '500', reply: { status: 500 }, level: 'warn' as const },
    // As right after the kind was made known to the server.
    { name: '429', reply: { status: 429, headers: { 'retry-after': '1' } }, level: 'info' as const },
    { name: '403', reply: { status: 403 }, level: 'warn' as const },
    { name: 'rubbish', reply: { lines: ['rubbish'], finish: 'end' as const }, level: 'warn' as const },
  ])('$name for watches passes: it goes on and misses nothing', async ({ reply, level }, { harness }) => {
    const { faults, log, follow, put, watchIsOpen } = harness;
    const cache = await follow();
    await watchIsOpen();
    faults.script(isWatch, reply, reply);
    faults.resetWatches();
    await put('a', 'one');
    await valueIs(cache, 'a', 'one', 10_000);
    // What the server answered is one plain line; that the connection was reset is told beside it.
    const told = log.entries.filter(({ message }) => message.endsWith(', retrying'));
    const isPlain = 'status' in reply;
    expect(told.map((entry) => [entry.level, !('err' in entry.fields)])).toContainEqual([level, isPlain]);
  });

  test('a list that fails is tried again until the cache is synced', async ({ harness }) => {
    const { faults, follow, put } = harness;
    await put('a', 'one');
    faults.script(isList, { status: 503 }, 'reset', { status: 403 }, { lines: ['rubbish'], finish: 'end' });
    const cache = await follow();
    expect(names(cache)).toEqual(['a']);
  });

  test('while the API server is away the last good state stays, and its age tells', async ({ harness }) => {
    const { faults, follow, put } = harness;
    await put('a', 'one');
    const cache = await follow();
    const back = faults.always(() => true, 'reset');
    faults.resetWatches();
    await pollUntil('an age of a second', () => cache.lastSyncAgeMs() > 1_000, { timeoutMs: 20_000 });
    expect(names(cache)).toEqual(['a']);
    back();
    await put('a', 'two');
    await valueIs(cache, 'a', 'two', 10_000);
    await pollUntil('an age of less', () => cache.lastSyncAgeMs() < 1_000, {
      timeoutMs: 20_000,
      everyMs: 10,
    });
  });

  test('a version that the server refuses as one from its future is given up for a list', async ({
    harness,
  }) => {
    const { faults, follow, put, watchIsOpen, lists } = harness;
    await put('a', 'one');
    const cache = await follow();
    await watchIsOpen();
    faults.script(isWatch, {
      status: 504,
      body: { kind: 'Status', reason: 'Timeout', message: 'Too large resource version' },
    });
    faults.resetWatches();
    await put('a', 'two');
    await valueIs(cache, 'a', 'two', 5_000);
    expect(lists()).toBe(2);
  });

  test('a list that stays older than what was seen is believed in the end, as after a backup was restored', async ({
    harness,
  }) => {
    const { namespace, faults, log, follow, put, watchIsOpen, lists } = harness;
    await put('a', 'old');
    const old = await direct.raw('GET', `/api/v1/namespaces/${namespace}/configmaps`);
    const cache = await follow();
    await put('a', 'new');
    await valueIs(cache, 'a', 'new', 5_000);
    await watchIsOpen();
    const seenValues: (string | undefined)[] = [];
    cache.onChange(({ object }) => seenValues.push(object.data?.['value']));
    const before = lists();
    const restored = faults.always(isList, { status: 200, body: old });
    faults.expireWatches();
    // Between the lists it waits 15.5 s in all, give or take a half.
    await pollUntil('the old list being believed', () => seenValues.includes('old'), { timeoutMs: 50_000 });
    restored();
    expect(lists() - before).toBeGreaterThanOrEqual(5);
    expect(log.messages('warn')).toContain('list or watch failed, retrying');
    await valueIs(cache, 'a', 'new', 10_000);
  });

  test('a faults that ends every watch at once does not make a storm', async ({ harness }) => {
    const { faults, follow, watches } = harness;
    faults.always(isWatch, { lines: [], finish: 'end' });
    await follow();
    const startedAt = performance.now();
    await pollUntil('four watches', () => watches() >= 4, { timeoutMs: 20_000 });
    // 0.5, 1 and 2 s less their jitter of a half.
    expect(performance.now() - startedAt).toBeGreaterThan(1_750);
  });

  test('a handler that throws is logged and keeps nobody from the changes', async ({ harness }) => {
    const { log, follow, put } = harness;
    const cache = await follow();
    const seen: string[] = [];
    cache.onChange(() => {
      throw new Error('broken handler');
    });
    cache.onChange(({ object }) => seen.push(object.metadata.name));
    await put('a');
    await put('b');
    await pollUntil('both', () => seen.length === 2, { timeoutMs: 20_000, everyMs: 10 });
    expect(log.messages('error')).toEqual(['change handler failed', 'change handler failed']);
  });

  test('what we wrote is not forgotten for an older copy, while the watch lags', async ({ harness }) => {
    const { namespace, faults, follow, put, watchIsOpen } = harness;
    const written = await put('a', 'one');
    const cache = await follow();
    await watchIsOpen();
    faults.holdWatches();
    const next = await put('a', 'two');
    cache.noteWrite(next);
    const old = cache.get(namespace, 'a');
    expect(old?.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    expect(old !== undefined && cache.isStale(old)).toBe(true);
    expect((await cache.getFresh(namespace, 'a'))?.data).toEqual({ value: 'two' });
    faults.releaseWatches();
    await valueIs(cache, 'a', 'two', 5_000);
    const current = cache.get(namespace, 'a');
    expect(current !== undefined && cache.isStale(current)).toBe(false);
    const before = faults.seen.length;
    expect((await cache.getFresh(namespace, 'a'))?.data).toEqual({ value: 'two' });
    expect(faults.seen.length).toBe(before);
  });

  test('an object that we made a moment ago is found, though the watch has not told of it', async ({
    harness,
  }) => {
    const { namespace, faults, follow, put, watchIsOpen } = harness;
    const cache = await follow();
    await watchIsOpen();
    faults.holdWatches();
    cache.noteWrite(await put('a', 'one'));
    expect(cache.get(namespace, 'a')).toBeUndefined();
    expect((await cache.getFresh(namespace, 'a'))?.data).toEqual({ value: 'one' });
    expect(await cache.getFresh(namespace, 'b')).toBeUndefined();
  });

  test('a stop during the list leaves no watch behind and rejects the wait for the sync', async ({
    harness,
  }) => {
    const { namespace, faults, client, log, stop, lists, watches } = harness;
    faults.always(isList, 'silence');
    const cache = createCache({ client, resource: configMaps, namespace, log });
    const started = cache.start(stop.signal);
    await pollUntil('the list', () => lists() === 1, { timeoutMs: 20_000, everyMs: 10 });
    stop.abort(new Error('shutdown'));
    await started;
    await expect(cache.synced).rejects.toThrow('shutdown');
    expect(watches()).toBe(0);
  });

  test('a stop ends the open watch', async ({ harness }) => {
    const { faults, stop, running, follow, watchIsOpen, lists, watches } = harness;
    await follow();
    await watchIsOpen();
    stop.abort();
    await Promise.all(running);
    await pollUntil('no open watch', () => faults.openWatches() === 0, { timeoutMs: 20_000, everyMs: 10 });
    expect(lists() + watches()).toBe(2);
  });

  test('watches of a quiet kind share connections and prove that nothing is missing', async ({ harness }) => {
    const { faults, outcomes, follow, lists } = harness;
    const cache = await follow({ watchSeconds: () => 1 });
    await pollUntil(
      'six ended watches',
      () => outcomes.filter((outcome) => outcome === 'ended').length >= 6,
      {
        timeoutMs: 15_000,
      },
    );
    await pollUntil('a fresh cache', () => cache.lastSyncAgeMs() < 2_500, { timeoutMs: 20_000, everyMs: 10 });
    // One for the list, and one or two that all watches share.
    expect(faults.accepted()).toBeLessThanOrEqual(3);
    expect(lists()).toBe(1);
  });

  test('a controller reconciles each object of a cache, and again when it changes', async ({ harness }) => {
    const { log, stop, running, follow, put, remove } = harness;
    await put('a', 'one');
    await put('b', 'one');
    const cache = await follow();
    const queue = createQueue();
    const seen: string[] = [];
    const reconcile = async ({ namespace, name }: Key) => {
      seen.push(`${name}=${cache.get(namespace, name)?.data?.['value'] ?? 'gone'}`);
      return done();
    };
    watchInto(cache, queue);
    running.push(runController({ name: 'test', queue, reconcile, log, signal: stop.signal }));
    await put('a', 'two');
    await pollUntil('the change', () => seen.includes('a=two'), { timeoutMs: 20_000, everyMs: 10 });
    await remove('a');
    await pollUntil('the deletion', () => seen.includes('a=gone'), { timeoutMs: 20_000, everyMs: 10 });
    expect(seen).toEqual(['a=one', 'b=one', 'a=two', 'a=gone']);
  });
});
