/**
 * A run store that runs out of memory: claims stop before it is full, accepted runs still end, and each
 * project stays within its quota.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../kube/clock.ts';
import { createManualClock } from '../../support/time/manualClock.ts';
import { advance } from '../../../runs/advance.ts';
import { createQuotaSetter } from '../../../operator/store/allQuotas.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { setQuotas } from '../../../runs/limits.ts';
import { readSummaries } from '../../support/runStore/calls.ts';
import { trimSummaries } from '../../../runs/record/summaries.ts';
import { beginSeeding, openSeeded, seedKeys } from '../../../runs/seed.ts';
import { submit } from '../../../runs/submit.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { endRecorded, setMemoryQuotas, passParkedTime, stepOn } from '../../support/runStore/growingRuns.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  refOf,
  startRunStore,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

const MIB = 1024 * 1024;
const MAX_MEMORY = 32 * MIB;

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no', maxmemory: MAX_MEMORY })));
afterAll(() => store?.stop());

/** Submits events, and makes them runs that have ended and are recorded. */
async function executed(project: string, count: number, changes = {}): Promise<void> {
  const { conn } = store;
  for (let at = 0; at < count; at += 1) await accepted(conn, submissionOf(project, changes));
  for (const claim of await claimed(conn, project, count))
    await endRecorded(conn, claim, { end: { phase: 'Succeeded' } });
}

async function useOf(project: string) {
  const use = await readUse(store.conn, project);
  if (!use || 'outcome' in use) throw new Error('the use cannot be read');
  return use;
}

const full = { outcome: 'unavailable', why: 'full' };

test('small events that become large runs stay below the memory limit, and all of them end', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const neighbour = await newProject(conn);
  const updateQuotas = () => setMemoryQuotas(conn, [project, neighbour]);
  await updateQuotas();
  const runs = 150;
  for (let count = 0; count < runs; count += 1) await accepted(conn, submissionOf(project));
  let [ended, most, isPaused] = [0, 0, false];
  while (ended < runs) {
    const { memory } = await updateQuotas();
    most = Math.max(most, memory.used);
    const step = await stepOn(conn, project, 5);
    ended += step.ended;
    // Nothing is claimed any more: now the time of those that wait passes.
    if (step.parked + step.ended > 0) continue;
    isPaused ||= step.short;
    expect(await submit(conn, submissionOf(neighbour))).toMatchObject({ outcome: 'accepted' });
    await passParkedTime(conn, project);
  }
  expect(isPaused).toBe(true);
  expect(most).toBeGreaterThan(0.3 * MAX_MEMORY);
  expect(most).toBeLessThan(MAX_MEMORY);
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
}, 60_000);

test('also where nobody reads the memory meanwhile', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setMemoryQuotas(conn, [project]);
  for (let count = 0; count < 100; count += 1) await accepted(conn, submissionOf(project));
  let parked = 0;
  for (let step = await stepOn(conn, project, 5); step.parked > 0; step = await stepOn(conn, project, 5))
    parked += step.parked;
  const { memory } = await setMemoryQuotas(conn, [project]);
  expect(parked).toBeGreaterThan(5);
  expect(memory.used).toBeLessThan(0.8 * MAX_MEMORY);
  for (let ended = 0; ended < 100; ended += (await stepOn(conn, project, 5)).ended)
    await passParkedTime(conn, project);
});

test('where there is no room one run at a time goes on, and the next one as soon as it has ended', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setQuotas(conn, project, { claimQuota: 1 });
  const [first, second] = [
    await accepted(conn, submissionOf(project)),
    await accepted(conn, submissionOf(project)),
  ];
  const [claim, ...others] = await claimed(conn, project);
  expect([claim?.state.run, others.length]).toEqual([first, 0]);
  expect(await claimed(conn, project, 10, 'runner-2')).toEqual([]);
  if (!claim) throw new Error('nothing was claimed');
  const woken: (string | undefined)[] = [];
  const { ready } = keysOf(project);
  const subscription = await conn.subscriber().subscribe(ready, (entry) => woken.push(entry));
  await expect.poll(() => conn.command('publish', ready, 'listening')).toBe(1);
  await advance(conn, refOf(claim), { end: { phase: 'Succeeded' } });
  await expect.poll(() => woken.some((entry) => entry?.endsWith(second))).toBe(true);
  subscription.end();
  expect((await claimedOne(conn, project)).run).toBe(second);
});

test('where there is no room runs that have begun go before those that have not, since their ends make it', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const begun = await accepted(conn, submissionOf(project));
  await advance(conn, await claimedOne(conn, project), { parkMs: 50_000 });
  await setQuotas(conn, project, { claimQuota: 1 });
  for (let count = 0; count < 30; count += 1)
    await accepted(conn, submissionOf(project, { workflow: 'fresh', workflowUid: 'uid-fresh' }));
  expect(await claimed(conn, project)).toEqual([]);
  await passParkedTime(conn, project);
  expect((await claimedOne(conn, project)).run).toBe(begun);
});

test('without room, new runs do not wait for one that waits for days', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  await advance(conn, await claimedOne(conn, project), { parkMs: 86_400_000 });
  await setQuotas(conn, project, { claimQuota: 1 });
  const fresh = await accepted(conn, submissionOf(project));
  expect((await claimedOne(conn, project)).run).toBe(fresh);
});

test('claims leave room for what runs of the project were seen to grow by', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setQuotas(conn, project, { claimQuota: 4 * MIB });
  for (let count = 0; count < 80; count += 1) await accepted(conn, submissionOf(project));
  const unknown = await claimed(conn, project, 40);
  expect(unknown).toHaveLength(7);
  const [first] = unknown;
  if (!first) throw new Error('nothing was claimed');
  await advance(conn, refOf(first), {
    checkpoints: [1, 2, 3].map((id) => succeededNode(`n${id}`, 'x'.repeat(500_000))),
  });
  for (const claim of unknown) await advance(conn, refOf(claim), { end: { phase: 'Succeeded' } });
  const afterLarge = await claimed(conn, project, 40);
  expect(afterLarge.length).toBeLessThan(3);
  for (const claim of afterLarge) await advance(conn, refOf(claim), { end: { phase: 'Succeeded' } });
  for (let count = 0; count < 50; count += 1)
    await advance(conn, await claimedOne(conn, project), { end: { phase: 'Succeeded' } });
  // The first call learns what is ready.
  const afterSmall = [...(await claimed(conn, project, 40)), ...(await claimed(conn, project, 40))];
  expect(afterSmall.length).toBeGreaterThan(10);
});

test('dedupe keys count until they expire, and where a project may keep no more an event with a key is refused', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setQuotas(conn, project, { keyQuota: 1_200 });
  await executed(project, 1, { dedupeKey: 'first' });
  expect(await useOf(project)).toMatchObject({ bytes: 0, keys: 500 });
  await accepted(conn, submissionOf(project, { dedupeKey: 'second' }));
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'third' }))).toMatchObject(full);
  for (const known of [{ dedupeKey: 'first' }, { dedupeKey: 'second' }])
    expect(await submit(conn, submissionOf(project, known))).toMatchObject({ duplicate: true });
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
  await expireAll(project);
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'third' }))).toMatchObject({
    duplicate: false,
  });
  expect(await useOf(project)).toMatchObject({ keys: 1_000 });
});

/** Moves the counts of what expires to the past, as if its time had come. */
async function expireAll(project: string): Promise<void> {
  const { expiring, meta } = keysOf(project);
  const counts = (await store.conn.command('hgetall', expiring)) as Record<string, string>;
  for (const [count, bytes] of Object.entries(counts)) {
    await store.conn.command('hdel', expiring, count);
    await store.conn.command('hincrby', expiring, `${count.split(' ')[0]} 1`, bytes);
  }
  await store.conn.command('hdel', meta, 'settled');
}

test('a reply is kept with its key for an hour, and where there is no room for it the run is named all the same', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setQuotas(conn, project, { keyQuota: 40_000 });
  const reply = { status: 200, headers: {}, body: 'x'.repeat(6_000), contentType: 'text/plain' };
  const answered = async (dedupeKey: string) => {
    const run = await accepted(conn, submissionOf(project, { dedupeKey }));
    const [claim] = await claimed(conn, project, 1);
    if (!claim) throw new Error('nothing was claimed');
    await endRecorded(conn, claim, { reply, end: { phase: 'Succeeded' } });
    return { run, key: keysOf(project).reply('uid-orders', claim.state.dedupeHash ?? '') };
  };
  const first = await answered('first');
  const again = () => submit(conn, submissionOf(project, { dedupeKey: 'first' }));
  expect(await again()).toMatchObject({ run: first.run, duplicate: true, reply });
  expect(await conn.command('ttl', first.key)).toBeGreaterThan(3_500);
  expect(await conn.command('ttl', first.key)).toBeLessThanOrEqual(3_600);
  const { run } = await answered('second');
  const known = { outcome: 'accepted', run, duplicate: true };
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'second' }))).toEqual(known);
  expect((await useOf(project)).replies).toBeLessThan(10_000);
  await conn.command('unlink', first.key);
  await expireAll(project);
  expect(await useOf(project)).toMatchObject({ replies: 0 });
  expect(await again()).toEqual({ ...known, run: first.run });
});

test('summaries count, the oldest make room for new ones, and those of a workflow that goes are not counted any more', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setQuotas(conn, project, { keyQuota: 20_000 });
  await executed(project, 30);
  const kept = await readSummaries(conn, project, 'uid-orders', 100);
  if (!Array.isArray(kept)) throw new Error('no summaries');
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThan(30);
  const { summaries } = await useOf(project);
  expect(summaries).toBeGreaterThan(3_500);
  expect(summaries).toBeLessThanOrEqual(5_000);
  await dropWorkflow(conn, project, 'uid-orders');
  expect(await useOf(project)).toMatchObject({ summaries: 0 });
});

test('summaries of runs older than a week are removed, and the oldest beyond what a workflow may keep', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await executed(project, 6);
  const { summarized } = keysOf(project);
  const names = (await conn.command('zrange', summarized('uid-orders'), 0, -1)) as string[];
  const weekAgo = (Date.now() - 7 * 24 * 3_600_000 - 60_000) * 1_000;
  await conn.command('zadd', summarized('uid-orders'), 'xx', weekAgo, names[0] ?? '');
  const before = await useOf(project);
  await trimSummaries(conn, project, 'uid-orders', 10_000);
  expect(await readSummaries(conn, project, 'uid-orders', 10)).toHaveLength(5);
  await trimSummaries(conn, project, 'uid-orders', 3);
  expect(await readSummaries(conn, project, 'uid-orders', 10)).toMatchObject(
    names
      .slice(3)
      .toReversed()
      .map((run) => ({ run })),
  );
  const after = await useOf(project);
  expect(after.summaries).toBeLessThan(0.6 * before.summaries);
  await trimSummaries(conn, project, 'uid-orders', 0);
  expect(await useOf(project)).toMatchObject({ summaries: 0 });
});

test('a store that is seeded counts the keys that it gets back, once also where a seeding was interrupted', async () => {
  const { conn } = store;
  const project = 'project-seeded';
  const known = ['a', 'b'].map((hash) => ({
    workflowUid: 'uid-orders',
    hash,
    body: '',
    run: `run-${hash}`,
  }));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const begun = await beginSeeding(conn, project);
    if (begun.outcome !== 'begun') throw new Error('no seeding');
    await seedKeys(conn, begun.seeding, known);
    if (attempt === 1) await openSeeded(conn, begun.seeding);
  }
  expect(await useOf(project)).toMatchObject({ keys: 1_000 });
  await expireAll(project);
  expect(await useOf(project)).toMatchObject({ keys: 0 });
});

const rest = { clock: systemClock, scaling: { asleep: new Map<string, boolean>() } };

test('a run store that cannot be read is not one without projects', async () => {
  const conn = connectRunStore({ url: 'redis://127.0.0.1:1', name: 'test' });
  const caches = { namespaces: { list: () => [] }, routes: { list: () => [] } };
  const log = createCollectedLog();
  expect(
    await createQuotaSetter({ ...rest, conn, caches, log }, { seen: () => undefined })(),
  ).toBeUndefined();
  await conn.close();
});

test('what a project wrote into its own keys changes no limit of another project, and is told once', async () => {
  const { conn } = store;
  const [damaged, lying, neighbour] = [
    await newProject(conn),
    await newProject(conn),
    await newProject(conn),
  ];
  await conn.command('hset', keysOf(damaged).expiring, 'nonsense', 1);
  await conn.command('hset', keysOf(lying).meta, 'bytes', 'abc', 'keys', 'abc', 'summaries', -5);
  const uids = { damaged, lying, neighbour };
  const namespaces = Object.entries(uids).map(([name, uid]) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, uid },
  }));
  const log = createCollectedLog();
  const caches = { namespaces: { list: () => namespaces }, routes: { list: () => [] } };
  const setAllQuotas = createQuotaSetter({ ...rest, conn, caches, log }, { seen: () => undefined });
  await setAllQuotas();
  const open = await setAllQuotas();
  expect(open?.map(({ namespace, use }) => [namespace, use.bytes, use.keys, use.summaries])).toEqual([
    ['lying', 0, 0, 0],
    ['neighbour', 0, 0, 0],
  ]);
  const { quota, claimQuota, keyQuota } = await useOf(neighbour);
  for (const limit of [quota, claimQuota, keyQuota]) expect(limit).toBeGreaterThan(0);
  expect(log.messages('warn')).toEqual(["cannot read a project's memory use"]);
});

test('a project whose runners sleep is read after minutes, and at once when they wake or it is full', async () => {
  const { conn } = store;
  const uid = await newProject(conn);
  const caches = {
    namespaces: { list: () => [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid } }] },
    routes: { list: () => [] },
  };
  const clock = createManualClock();
  const asleep = new Map([['shop', true]]);
  const context = { conn, caches, clock, log: createCollectedLog(), scaling: { asleep } };
  const setAllQuotas = createQuotaSetter(context, { seen: () => undefined });
  const bytes = async () => (await setAllQuotas())?.map(({ use }) => use.bytes);
  // A second reading says that nothing happens any more.
  for (let reading = 0; reading < 2; reading += 1) expect(await bytes()).toEqual([0]);
  await conn.command('hset', keysOf(uid).meta, 'bytes', 7);
  await clock.advance(400_000);
  expect(await bytes()).toEqual([0]);
  await clock.advance(400_000);
  expect(await bytes()).toEqual([7]);
  await conn.command('hset', keysOf(uid).meta, 'bytes', 8);
  asleep.set('shop', false);
  expect(await bytes()).toEqual([8]);
  asleep.set('shop', true);
  await conn.command('hset', keysOf(uid).meta, 'bytes', 2 ** 40);
  await clock.advance(800_000);
  expect(await bytes()).toEqual([2 ** 40]);
  await conn.command('hset', keysOf(uid).meta, 'bytes', 9);
  await clock.advance(30_000);
  expect(await bytes()).toEqual([9]);
});
