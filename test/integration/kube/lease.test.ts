/** Leases on a real API server: who leads, who follows, and what shows that somebody lives. */
import { afterAll, beforeAll, describe, expect, test as plainTest } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { maintainLease, runWithLease } from '../../../kube/lease.ts';
import { leases, namespaces } from '../../../kube/resource.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { startKubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
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

/** A fifth of the real times. */
const SHORT = { durationMs: 3_000, renewMs: 2_000, retryMs: 400 };
/**
 * For what must come of the next attempt, long before a lease runs out, also on a machine that stands still
 * for seconds.
 */
const LONG = { durationMs: 60_000, renewMs: 50_000, retryMs: 400 };
const SOON_MS = 20_000;

type Harness = Awaited<ReturnType<typeof createHarness>>;

const test = plainTest.extend<{ harness: Harness }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern that nothing else is needed
  harness: async ({}, use) => {
    const harness = await createHarness(`lease-${(harnesses += 1)}`);
    await use(harness);
    await harness.end();
  },
});

/** A namespace with a lease `leader`, whose history of who leads when is kept. */
async function createHarness(namespace: string) {
  const history: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  await direct.create(namespaces, { metadata: { name: namespace } });

  /** A program that wants to lead, behind a proxy of its own; told to end, it waits for `finish`. */
  async function contend(identity: string, times: typeof LONG, finish: Promise<void> = Promise.resolve()) {
    const faults = await startKubeApiFaults(server.connection);
    const client = createClient(faults.connection);
    const stop = new AbortController();
    const log = createCollectedLog();
    const ended = runWithLease({
      client,
      namespace,
      name: 'leader',
      identity,
      ...times,
      log,
      signal: stop.signal,
      onStarted: async (signal) => {
        history.push(`${identity} leads`);
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await finish;
        history.push(`${identity} ended`);
      },
      onLost: () => {
        history.push(`${identity} lost`);
      },
    });
    ends.push(async () => {
      stop.abort();
      await ended;
      await client.close();
      await faults.stop();
    });
    return { faults, stop, ended, log };
  }

  return {
    namespace,
    history,
    contend,
    onEnd: (end: () => Promise<void>) => ends.push(end),
    happens: (what: string) =>
      pollUntil(what, () => history.includes(what), { timeoutMs: SOON_MS, everyMs: 10 }),
    lease: () => direct.get(leases, { namespace, name: 'leader' }),
    end: async () => {
      await Promise.all(ends.map((end) => end()));
    },
  };
}

describe.concurrent('leader election', () => {
  test('one of three leads, and renews', async ({ harness }) => {
    await Promise.all(['a', 'b', 'c'].map((identity) => harness.contend(identity, LONG)));
    await pollUntil('a leader', () => harness.history.length > 0, { timeoutMs: SOON_MS, everyMs: 10 });
    const first = await harness.lease();
    const holder = first.spec?.holderIdentity;
    expect(harness.history).toEqual([`${holder} leads`]);
    expect(first.spec).toMatchObject({ leaseDurationSeconds: 60, leaseTransitions: 0 });
    const renewed = async (): Promise<boolean> =>
      (await harness.lease()).spec?.renewTime !== first.spec?.renewTime;
    await pollUntil('a renewal', renewed, { timeoutMs: SOON_MS });
    expect((await harness.lease()).spec).toMatchObject({
      holderIdentity: holder,
      acquireTime: first.spec?.acquireTime,
    });
    expect(harness.history).toEqual([`${holder} leads`]);
  });

  test('at shutdown the work ends first, and then another leads before the lease could expire', async ({
    harness,
  }) => {
    const finish = Promise.withResolvers<void>();
    harness.onEnd(async () => finish.resolve());
    const a = await harness.contend('a', LONG, finish.promise);
    await harness.happens('a leads');
    await harness.contend('b', LONG);
    a.stop.abort();
    const { renewTime } = (await harness.lease()).spec ?? {};
    const renewed = async (): Promise<boolean> => (await harness.lease()).spec?.renewTime !== renewTime;
    await pollUntil('a renewal while the work ends', renewed, { timeoutMs: SOON_MS });
    expect((await harness.lease()).spec?.holderIdentity).toBe('a');
    finish.resolve();
    await a.ended;
    await harness.happens('b leads');
    expect(harness.history).toEqual(['a leads', 'a ended', 'b leads']);
    expect((await harness.lease()).spec?.leaseTransitions).toBe(1);
  });

  test('a leader that cannot renew gives up before another takes over', async ({ harness }) => {
    const a = await harness.contend('a', SHORT);
    await harness.happens('a leads');
    await harness.contend('b', SHORT);
    a.faults.always(() => true, 'silence');
    await harness.happens('b leads');
    expect(harness.history).toEqual(['a leads', 'a lost', 'a ended', 'b leads']);
    await expect(a.ended).resolves.toBeUndefined();
  });

  test('a few failed renewals do not cost the lease', async ({ harness }) => {
    const a = await harness.contend('a', LONG);
    await harness.happens('a leads');
    a.faults.script(() => true, { status: 500 }, 'reset', { status: 429 });
    const { renewTime } = (await harness.lease()).spec ?? {};
    const renewed = async (): Promise<boolean> => (await harness.lease()).spec?.renewTime !== renewTime;
    await pollUntil('a renewal', renewed, { timeoutMs: SOON_MS });
    expect(a.faults.seen.length).toBeGreaterThan(4);
    expect(harness.history).toEqual(['a leads']);
  });

  test('a leader whose lease is in other hands gives up at once', async ({ harness }) => {
    await harness.contend('a', LONG);
    await harness.happens('a leads');
    const spec = {
      holderIdentity: 'usurper',
      leaseDurationSeconds: 60,
      renewTime: '2026-01-01T00:00:00.000000Z',
    };
    await direct.patch(leases, { namespace: harness.namespace, name: 'leader' }, { spec }, { type: 'merge' });
    await harness.happens('a lost');
    expect((await harness.lease()).spec?.holderIdentity).toBe('usurper');
  });

  test.for([
    { clock: 'ten minutes ahead', renewTime: new Date(Date.now() + 600_000) },
    { clock: 'ten minutes behind', renewTime: new Date(Date.now() - 600_000) },
  ])(
    'a holder whose clock is $clock is left alone for as long as its lease lasts, and no longer',
    async ({ renewTime }, { harness }) => {
      const spec = {
        holderIdentity: 'gone',
        leaseDurationSeconds: 2,
        renewTime: renewTime.toISOString().replace('Z', '000Z'),
      };
      await direct.create(leases, { metadata: { namespace: harness.namespace, name: 'leader' }, spec });
      const startedAt = performance.now();
      await harness.contend('a', LONG);
      await harness.happens('a leads');
      expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    },
  );

  test('a lease that was deleted is made again', async ({ harness }) => {
    await harness.contend('a', LONG);
    await harness.happens('a leads');
    await direct.delete(leases, { namespace: harness.namespace, name: 'leader' });
    await pollUntil('a new lease', () => harness.lease(), { timeoutMs: SOON_MS });
    expect(harness.history).toEqual(['a leads']);
  });

  test('what the work fails with comes out, and the lease is released', async ({ harness }) => {
    const ended = runWithLease({
      client: direct,
      namespace: harness.namespace,
      name: 'leader',
      identity: 'a',
      log: createCollectedLog(),
      signal: new AbortController().signal,
      onStarted: () => Promise.reject(new Error('broken work')),
      onLost: () => undefined,
    });
    await expect(ended).rejects.toThrow('broken work');
    expect((await harness.lease()).spec?.holderIdentity).toBeUndefined();
  });
});

describe.concurrent('a kept lease', () => {
  /** So that no renewal brings what is to be written at once. */
  const RARELY = 60_000;

  async function keep(harness: Harness, everyMs = 600) {
    const faults = await startKubeApiFaults(server.connection);
    const client = createClient(faults.connection);
    const stop = new AbortController();
    const kept = maintainLease({
      client,
      namespace: harness.namespace,
      name: 'leader',
      identity: 'gateway-1',
      labels: { role: 'gateway' },
      annotations: { digest: 'one' },
      everyMs,
      log: createCollectedLog(),
      signal: stop.signal,
    });
    harness.onEnd(async () => {
      stop.abort();
      await kept.stopped;
      await client.close();
      await faults.stop();
    });
    const digest = async (): Promise<string | undefined> =>
      (await harness.lease()).metadata.annotations?.['digest'];
    const digestIs = (wanted: string) =>
      pollUntil(`digest ${wanted}`, async () => (await digest()) === wanted, {
        timeoutMs: SOON_MS,
        everyMs: 10,
      });
    return { faults, stop, kept, digestIs };
  }

  test('is there at once, is renewed, and goes with its keeper', async ({ harness }) => {
    const { stop, kept, digestIs } = await keep(harness);
    await digestIs('one');
    const first = await harness.lease();
    expect(first.metadata.labels).toEqual({ role: 'gateway' });
    expect(first.spec).toMatchObject({ holderIdentity: 'gateway-1', leaseDurationSeconds: 15 });
    const renewed = async (): Promise<boolean> =>
      (await harness.lease()).spec?.renewTime !== first.spec?.renewTime;
    await pollUntil('a renewal', renewed, { timeoutMs: SOON_MS });
    stop.abort();
    await kept.stopped;
    await expect(harness.lease()).rejects.toMatchObject({ status: 404 });
  });

  test('publishes what changes at once and confirms what the server has', async ({ harness }) => {
    const { kept, digestIs } = await keep(harness, RARELY);
    expect(kept.confirmed()).toEqual({ annotations: undefined, ageMs: Infinity, steadyMs: 0 });
    await digestIs('one');
    let publishedAt = 0;
    for (const digest of ['two', 'three', 'four']) {
      await pollUntil('a pause', () => kept.confirmed().ageMs > 100, { timeoutMs: SOON_MS, everyMs: 10 });
      publishedAt = performance.now();
      kept.publish({ digest });
      await digestIs(digest);
    }
    await pollUntil('the confirmation', () => kept.confirmed().annotations?.['digest'] === 'four', {
      timeoutMs: SOON_MS,
    });
    expect(kept.confirmed().ageMs).toBeLessThan(performance.now() - publishedAt);
  });

  test('writes a burst of changes as a few, and ends with the last', async ({ harness }) => {
    const { faults, kept, digestIs } = await keep(harness, RARELY);
    await digestIs('one');
    const before = faults.seen.length;
    for (let change = 1; change <= 1_000; change += 1) kept.publish({ digest: `change-${change}` });
    await digestIs('change-1000');
    expect(faults.seen.length - before).toBeLessThan(5);
  });

  test('does not confirm what the server has not, and goes on when it is back', async ({ harness }) => {
    const { faults, kept, digestIs } = await keep(harness);
    await digestIs('one');
    // The server has it before its answer is here.
    await pollUntil('the first word back', () => kept.confirmed().annotations?.['digest'] === 'one', {
      timeoutMs: SOON_MS,
    });
    const back = faults.always(() => true, { status: 503 });
    kept.publish({ digest: 'two' });
    await pollUntil('an age beyond the period', () => kept.confirmed().ageMs > 1_000, { timeoutMs: SOON_MS });
    expect(kept.confirmed()).toMatchObject({ annotations: { digest: 'one' }, steadyMs: 0 });
    const returned = performance.now();
    back();
    await digestIs('two');
    await pollUntil('a second renewal', () => kept.confirmed().steadyMs > 600, { timeoutMs: SOON_MS });
    // A renewal that was on its way when the server came back counts from its start.
    expect(kept.confirmed().steadyMs).toBeLessThan(performance.now() - returned + 100);
  });
});
