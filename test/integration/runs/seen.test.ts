/**
 * Seen keys: stored with the checkpoint, each new in one run only, bounded, counted, and gone with the
 * workflow.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { handBack } from '../../../runs/handback.ts';
import { readSeen, SEEN_KEY_BYTES } from '../../../runs/seen.ts';
import type { Remembered } from '../../../runs/types/advance.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { keysOf } from '../../../store/keys.ts';
import {
  accepted,
  claimed,
  newProject,
  refOf,
  startRunStore,
  stateOf,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

const WORKFLOW = 'uid-orders';
const DAY_MS = 86_400_000;

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

/** Another run of the workflow, claimed. */
async function running(project: string, changes: Partial<Submission> = {}): Promise<ClaimRef> {
  const run = await accepted(store.conn, submissionOf(project, changes));
  const claims = await claimed(store.conn, project);
  const claim = claims.find(({ state }) => state.run === run);
  if (!claim) throw new Error('the run was not claimed');
  return refOf(claim);
}

const remembered = (keys: string[], changes: Partial<Remembered> = {}): Remembered => ({
  node: 'new',
  keys,
  ttlMs: DAY_MS,
  limit: 100_000,
  ...changes,
});

const remember = (ref: ClaimRef, keys: string[], changes: Partial<Remembered> = {}) =>
  advance(store.conn, ref, {
    checkpoints: [succeededNode('new')],
    remember: [remembered(keys, changes)],
  });

async function seen(project: string, keys: string[], run = 'another', retryOf?: string): Promise<boolean[]> {
  const found = await readSeen(
    store.conn,
    { project, workflowUid: WORKFLOW, node: 'new', run, retryOf },
    keys,
  );
  if (found.outcome !== 'done') throw new Error(found.outcome);
  return found.seen;
}

const bytesOf = async (project: string) =>
  Number(await store.conn.command('hget', keysOf(project).meta, 'bytes'));

/** Lets time pass for the project. */
async function pass(project: string, ms: number): Promise<void> {
  await store.conn.command('hincrby', keysOf(project).meta, 'ahead', ms);
}

test('keys are stored with the output of the node, and seen by every other run', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  expect(await seen(project, ['a', 'b'])).toEqual([false, false]);
  expect(await remember(ref, ['a', 'b'])).toMatchObject({ outcome: 'done' });
  expect(await seen(project, ['b', 'c', 'a'])).toEqual([true, false, true]);
  expect((await stateOf(store.conn, project, ref.run)).nodes).toMatchObject([
    { id: 'new', phase: 'Succeeded' },
  ]);
});

test('the run itself, and a run that repeats it, see them as new', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  await remember(ref, ['a']);
  expect(await seen(project, ['a'], ref.run)).toEqual([false]);
  expect(await seen(project, ['a'], 'again', ref.run)).toEqual([false]);
  expect(await seen(project, ['a'], 'again', 'of-another')).toEqual([true]);
  const again = await running(project, { retryOf: ref.run });
  expect(await remember(again, ['a', 'b'], { retryOf: ref.run })).toMatchObject({ outcome: 'done' });
});

test('of two runs with the same key one stores its step, and the other nothing of its own', async () => {
  const project = await newProject(store.conn);
  const [one, other] = [await running(project), await running(project)];
  expect(await remember(one, ['a', 'b'])).toMatchObject({ outcome: 'done' });
  const bytes = await bytesOf(project);
  expect(await remember(other, ['c', 'b'])).toEqual({ outcome: 'seen' });
  expect((await stateOf(store.conn, project, other.run)).nodes).toEqual([]);
  expect(await seen(project, ['c'])).toEqual([false]);
  expect(await bytesOf(project)).toBe(bytes);
  expect(await remember(other, ['c'])).toMatchObject({ outcome: 'done' });
});

test('a step whose answer was lost is stored once, and a fenced runner stores no key', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const { sequence } = await stateOf(store.conn, project, ref.run);
  const step = { checkpoints: [succeededNode('new')], remember: [remembered(['a'])], follows: sequence };
  expect(await advance(store.conn, ref, step)).toMatchObject({ outcome: 'done' });
  const bytes = await bytesOf(project);
  expect(await advance(store.conn, ref, step)).toMatchObject({ outcome: 'done' });
  expect(await bytesOf(project)).toBe(bytes);
  await handBack(store.conn, ref);
  expect(await remember(ref, ['b'])).toEqual({ outcome: 'fenced' });
  expect(await seen(project, ['b'])).toEqual([false]);
});

test('nodes remember apart from one another', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const step = { remember: [remembered(['a']), remembered(['b'], { node: 'second' })] };
  expect(await advance(store.conn, ref, step)).toMatchObject({ outcome: 'done' });
  expect(await seen(project, ['a', 'b'])).toEqual([true, false]);
});

test('a key is new again when its time to live has passed, and no longer counted', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const before = await bytesOf(project);
  await remember(ref, ['a', 'b'], { ttlMs: 3_600_000 });
  await pass(project, 3_590_000);
  expect(await seen(project, ['a'])).toEqual([true]);
  await pass(project, 130_000);
  expect(await seen(project, ['a'])).toEqual([false]);
  const other = await running(project);
  expect(await remember(other, ['a'])).toMatchObject({ outcome: 'done' });
  const own = (await store.conn.command('zcard', keysOf(project).seen(WORKFLOW, 'new'))) as number;
  expect(own).toBe(1);
  expect(await seen(project, ['a'])).toEqual([true]);
  expect(before).toBeGreaterThan(0);
});

test('beyond the limit the keys that expire first are forgotten', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const names = (from: number, count: number) => Array.from({ length: count }, (_, at) => `${from + at}`);
  await remember(ref, names(0, 3_000), { limit: 3_000 });
  await pass(project, 120_000);
  await remember(await running(project), names(3_000, 2_500), { limit: 3_000 });
  expect(await store.conn.command('zcard', keysOf(project).seen(WORKFLOW, 'new'))).toBe(3_000);
  expect(await seen(project, names(3_000, 2_500))).not.toContain(false);
});

test('10,000 keys are counted with about the memory that they take, and stored in a moment', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const keys = Array.from({ length: 10_000 }, (_, at) => `order-${at}`);
  const before = await bytesOf(project);
  const state = await stateOf(store.conn, project, ref.run);
  expect(state.nodes).toEqual([]);
  expect(await advance(store.conn, ref, { remember: [remembered(keys)] })).toMatchObject({ outcome: 'done' });
  expect((await bytesOf(project)) - before).toBe(10_000 * SEEN_KEY_BYTES);
  const usage = await store.conn.command(
    'memory',
    'usage',
    keysOf(project).seen(WORKFLOW, 'new'),
    'samples',
    '0',
  );
  expect(Number(usage) / 10_000).toBeLessThan(SEEN_KEY_BYTES);
  expect(Number(usage) / 10_000).toBeGreaterThan(SEEN_KEY_BYTES * 0.6);
});

test('they are deleted with the workflow, and subtracted', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const before = await bytesOf(project);
  await advance(store.conn, ref, {
    remember: [remembered(['a', 'b']), remembered(['c'], { node: 'second' })],
  });
  expect(await bytesOf(project)).toBe(before + 3 * SEEN_KEY_BYTES);
  expect(await dropWorkflow(store.conn, project, WORKFLOW)).toEqual({ outcome: 'done' });
  expect(await bytesOf(project)).toBe(before);
  const { seen: key, seenNodes } = keysOf(project);
  expect(
    await store.conn.command('exists', key(WORKFLOW, 'new'), key(WORKFLOW, 'second'), seenNodes(WORKFLOW)),
  ).toBe(0);
});
