/** Signals of runs: the first of a node is stored and wakes the run. No run with unread signals is parked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { beginDeletion, deletePage } from '../../../runs/deletion.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { closeSignal, readSignals, signalRun, watchSignals } from '../../../runs/signals.ts';
import { keysOf } from '../../../store/keys.ts';
import { finish } from '../../support/runStore/calls.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  refOf,
  startedRun,
  startRunStore,
  stateOf,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore()));
afterAll(() => store?.stop());

const signal = ({ project, run }: Pick<ClaimRef, 'project' | 'run'>, node: string, value = '{"body":1}') =>
  signalRun(store.conn, project, { run, node, value });
const park = (ref: ClaimRef, signalsRead = '') =>
  advance(store.conn, ref, { checkpoints: [waiting('a')], parkMs: 3_600_000, signalsRead });
const waiting = (id: string) => ({ id, phase: 'Waiting', attempts: 1 }) as const;

test('the first signal of a node is stored and makes a parked run ready; further ones change nothing', async () => {
  const ref = await startedRun(store.conn);
  await park(ref);
  expect(await claimed(store.conn, ref.project)).toEqual([]);
  expect(await signal(ref, 'a', '{"body":12345678901234567890}')).toEqual({ outcome: 'stored' });
  expect(await signal(ref, 'a', '{"body":2}')).toEqual({ outcome: 'repeated' });
  const [claim] = await claimed(store.conn, ref.project);
  expect(claim?.state.signaled).toBe('1 a');
  const read = await readSignals(store.conn, ref);
  expect(read).toMatchObject({ version: '1 a' });
  const { body } = ('values' in read ? read.values.get('a') : {}) as { body: { text: string } };
  expect(body.text).toBe('12345678901234567890');
});

test('a parked run over its limit waits for a slot after a signal', async () => {
  const project = await newProject(store.conn);
  await setWorkflowLimits(store.conn, project, {
    workflowUid: 'uid-orders',
    policy: 'Queue',
    deadlineMs: 60_000,
    concurrency: 1,
  });
  await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  await park(ref);
  await accepted(store.conn, submissionOf(project));
  const other = await claimedOne(store.conn, project);
  expect(await signal(ref, 'a')).toEqual({ outcome: 'stored' });
  expect(await claimed(store.conn, project)).toEqual([]);
  await finish(store.conn, other, { phase: 'Succeeded' });
  expect((await claimedOne(store.conn, project)).run).toBe(ref.run);
});

test('a run with an unread signal is not parked, and its runner is told so', async () => {
  const ref = await startedRun(store.conn);
  await signal(ref, 'a');
  expect(await park(ref)).toEqual({ outcome: 'done', cancelRequested: false, signaled: true });
  expect(await stateOf(store.conn, ref.project, ref.run)).toMatchObject({ phase: 'Running' });
  expect(await park(ref, '1 a')).toEqual({ outcome: 'done', cancelRequested: false });
  expect(await stateOf(store.conn, ref.project, ref.run)).toMatchObject({ phase: 'Waiting' });
});

test('a repeated step whose answer was lost tells of unread signals too', async () => {
  const ref = await startedRun(store.conn);
  const { sequence } = await stateOf(store.conn, ref.project, ref.run);
  await signal(ref, 'a');
  const step = { checkpoints: [waiting('a')], parkMs: 60_000, follows: sequence };
  await advance(store.conn, ref, step);
  expect(await advance(store.conn, ref, step)).toMatchObject({ signaled: true });
});

test('a runner that executes the run is told of the signal at once', async () => {
  const ref = await startedRun(store.conn);
  const told: string[] = [];
  const watch = watchSignals(store.conn, ref.project, (run) => told.push(run));
  await expect
    .poll(async () => {
      await signal(ref, `n${told.length}-${performance.now()}`);
      return told;
    })
    .toContain(ref.run);
  watch.stop();
});

test.for<[name: string, end: (ref: ClaimRef) => Promise<unknown>]>([
  ['a run that has ended', (ref) => finish(store.conn, ref, { phase: 'Succeeded' })],
  ['a run that shall be cancelled', (ref) => cancelRun(store.conn, ref.project, ref.run)],
  [
    'a node that has failed',
    (ref) => advance(store.conn, ref, { checkpoints: [{ id: 'a', phase: 'Failed', attempts: 1 }] }),
  ],
  ['a node whose time has passed', (ref) => closeSignal(store.conn, ref, 'a')],
])('%s takes no signal', async ([, end]) => {
  const ref = await startedRun(store.conn);
  await end(ref);
  expect(await signal(ref, 'a')).toEqual({ outcome: 'over' });
});

test('a node that has succeeded answers a repeated signal like the first, after its signals were lost', async () => {
  const ref = await startedRun(store.conn);
  await advance(store.conn, ref, { checkpoints: [succeededNode('a')] });
  expect(await signal(ref, 'a')).toEqual({ outcome: 'repeated' });
});

test('a node of an item that has ended takes no signal, and one of another item does', async () => {
  const ref = await startedRun(store.conn);
  await advance(store.conn, ref, {
    checkpoints: [{ id: 'each', phase: 'Running', attempts: 1 }, succeededNode('each.0')],
  });
  expect(await signal(ref, 'each.0.0.1/a')).toEqual({ outcome: 'over' });
  expect(await signal(ref, 'each.1.0.1/a')).toEqual({ outcome: 'stored' });
  expect(await signal(ref, 'each.1.0.1/inner.3.0.1/a')).toEqual({ outcome: 'stored' });
  await advance(store.conn, ref, { checkpoints: [succeededNode('each')] });
  expect(await signal(ref, 'each.2.0.1/a')).toEqual({ outcome: 'over' });
});

test('a node of an execution that another one followed takes no signal', async () => {
  const ref = await startedRun(store.conn);
  const item = { id: 'each.0', phase: 'Waiting', attempts: 2, repeat: 1 } as const;
  const output = { text_content: '', data_content: { repeat: 7, attempts: 7 } };
  await advance(store.conn, ref, { checkpoints: [{ ...item, output }] });
  const send = async (execution: string) => (await signal(ref, `each.0.${execution}/a`)).outcome;
  expect(await send('0.1')).toBe('over');
  expect(await send('0.3')).toBe('over');
  expect(await send('1.1')).toBe('over');
  expect(await send('1.2')).toBe('stored');
  expect(await send('2.1')).toBe('stored');
});

test('the end of the wait and a signal exclude each other: the first decides', async () => {
  const ref = await startedRun(store.conn);
  await signal(ref, 'a', '{"body":"came"}');
  expect(await closeSignal(store.conn, ref, 'a')).toEqual({ outcome: 'closed', value: { body: 'came' } });
  expect(await closeSignal(store.conn, ref, 'b')).toEqual({ outcome: 'closed', value: { timeout: true } });
  expect(await closeSignal(store.conn, { ...ref, token: `${ref.token}x` }, 'c')).toEqual({
    outcome: 'fenced',
  });
});

test('signals count as bytes of the run, are refused beyond its limit, and are gone with its end', async () => {
  const ref = await startedRun(store.conn);
  const { meta, run, signals } = keysOf(ref.project);
  const bytes = async () => [
    Number(await store.conn.command('hget', meta, 'bytes')),
    Number(await store.conn.command('hget', run(ref.run), 'bytes')),
  ];
  const before = await bytes();
  await signal(ref, 'a', `{"body":"${'x'.repeat(89)}"}`);
  expect(await bytes()).toEqual(before.map((count) => count + 100));
  const big = JSON.stringify({ body: 'x'.repeat(8 * 1024 * 1024) });
  expect(await signal(ref, 'b', big)).toEqual({ outcome: 'too-large' });
  await finish(store.conn, ref, { phase: 'Failed' });
  expect(await store.conn.command('exists', signals(ref.run))).toBe(0);
});

test('a project without room for the signal refuses it', async () => {
  const ref = await startedRun(store.conn);
  await store.conn.command('hset', keysOf(ref.project).meta, 'claimQuota', 1);
  expect(await signal(ref, 'a')).toEqual({ outcome: 'full' });
});

test('a run that does not exist, and a store that lost its data, are distinguished', async () => {
  const ref = await startedRun(store.conn);
  expect(await signal({ ...ref, run: 'orders-never' }, 'a')).toEqual({ outcome: 'absent' });
  expect(await signal({ ...ref, project: 'project-empty' }, 'a')).toMatchObject({ outcome: 'unavailable' });
});

test('the deletion of the workflow removes the signals of its runs', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  await park(ref);
  await signal(ref, 'a');
  await beginDeletion(conn, ref.project, { workflowUid: 'uid-orders', name: 'orders' });
  expect(await deletePage(conn, ref.project, 'uid-orders', { skip: 0 })).toMatchObject({ left: 0 });
  expect(await conn.command('exists', keysOf(ref.project).signals(ref.run))).toBe(0);
});

test('a signal survives the death of the runner that had not read it', async () => {
  const ref = await startedRun(store.conn);
  await park(ref);
  await signal(ref, 'a');
  const [claim] = await claimed(store.conn, ref.project, 1, 'runner-2');
  const read = await readSignals(store.conn, refOf(claim!));
  expect(read).toMatchObject({ version: '1 a' });
});
