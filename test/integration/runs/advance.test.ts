/** A run goes forward: marks, checkpoints, the reply and the end; and only for the runner that holds it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunWriter } from '../../../runner/writer.ts';
import { advance } from '../../../runs/advance.ts';
import { checkpoint, finish, startNode } from '../../support/runStore/calls.ts';
import { appendEvents } from '../../../runs/events.ts';
import { handBack } from '../../../runs/handback.ts';
import { keysOf } from '../../../store/keys.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { readCounts } from '../../../runs/read.ts';
import { rejoin } from '../../../runs/rejoin.ts';
import type { Advance } from '../../../runs/types/advance.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { copyProject } from '../../support/runStore/projectCopy.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  refOf,
  startRunStore,
  stateOf,
  submissionOf,
  succeededNode,
  type TestStore,
  startedRun,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const start = (id: string, atMostOnce = false) => ({ id, attempt: 1, atMostOnce, at: 1_700_000_000_000 });
const done = { outcome: 'done', cancelRequested: false };

const running = () => startedRun(store.conn);

test('the start mark is stored before the effect, and the checkpoint replaces it', async () => {
  const { conn } = store;
  const ref = await running();
  expect(await startNode(conn, ref, start('mail', true))).toEqual(done);
  const marked = await stateOf(conn, ref.project, ref.run);
  expect(marked.nodes).toEqual([
    {
      id: 'mail',
      phase: 'Running',
      attempts: 1,
      startedAt: 1_700_000_000_000,
      mark: { attempt: 1, atMostOnce: true },
    },
  ]);
  expect(await checkpoint(conn, ref, [succeededNode('mail')])).toEqual(done);
  const checked = await stateOf(conn, ref.project, ref.run);
  expect(checked.nodes).toEqual([succeededNode('mail')]);
  expect(checked.sequence).toBe(marked.sequence + 1);
});

test("the trigger's output is the input, stored once", async () => {
  const { conn } = store;
  const ref = await running();
  await advance(conn, ref, {
    checkpoints: [{ id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true }],
  });
  const { nodes } = await stateOf(conn, ref.project, ref.run);
  expect(nodes[0]?.output).toEqual({ text_content: '', data_content: { item: 'desk' } });
  const raw = await conn.command('hget', keysOf(ref.project).run(ref.run), 'n:trigger');
  expect(raw).not.toContain('desk');
});

test('of several replies the first is kept', async () => {
  const { conn } = store;
  const ref = await running();
  const reply = { status: 200, headers: { 'x-a': 'b' }, body: 'first', contentType: 'text/plain' };
  await checkpoint(conn, ref, [succeededNode('reply')], { reply });
  await checkpoint(conn, ref, [succeededNode('other')], { reply: { ...reply, body: 'second' } });
  expect((await stateOf(conn, ref.project, ref.run)).reply).toEqual(reply);
});

test('a run ends once, and frees its claim and its slot', async () => {
  const { conn } = store;
  const ref = await running();
  expect(
    await finish(conn, ref, { phase: 'Failed', reason: 'Timeout', message: 'It took too long.' }),
  ).toEqual(done);
  expect(await finish(conn, ref, { phase: 'Succeeded' })).toEqual({ outcome: 'fenced' });
  const state = await stateOf(conn, ref.project, ref.run);
  expect(state).toMatchObject({ phase: 'Failed', reason: 'Timeout', message: 'It took too long.' });
  expect(state.endedAt).toBeGreaterThanOrEqual(state.startedAt ?? Infinity);
  expect(await readCounts(conn, ref.project, 'uid-orders')).toMatchObject({ failed: 1, active: 0 });
  expect(await conn.command('hlen', keysOf(ref.project).claims)).toBe(0);
  expect(await conn.command('zscore', keysOf(ref.project).unrecorded, ref.run)).not.toBeNull();
});

test('calls of one turn of the event loop are stored in the order in which they were made', async () => {
  const { conn } = store;
  const ref = await running();
  const outcomes = await Promise.all([
    checkpoint(conn, ref, [succeededNode('a')]),
    startNode(conn, ref, start('b')),
    checkpoint(conn, ref, [succeededNode('b')]),
    finish(conn, ref, { phase: 'Succeeded' }),
    startNode(conn, ref, start('c')),
  ]);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done', 'done', 'fenced']);
  const { nodes } = await stateOf(conn, ref.project, ref.run);
  expect(nodes.map(({ id, phase }) => `${id} ${phase}`)).toEqual(['a Succeeded', 'b Succeeded']);
});

test('with an old token nothing can be done, and nothing is changed', async () => {
  const { conn } = store;
  const zombie = await running();
  await handBack(conn, zombie);
  const owner = await claimedOne(conn, zombie.project, 'runner-2');
  expect(owner.run).toBe(zombie.run);
  const before = await stateOf(conn, owner.project, owner.run);
  const fenced = { outcome: 'fenced' };
  expect(await startNode(conn, zombie, start('a'))).toEqual(fenced);
  expect(await checkpoint(conn, zombie, [succeededNode('a')])).toEqual(fenced);
  expect(await finish(conn, zombie, { phase: 'Failed' })).toEqual(fenced);
  expect(await handBack(conn, zombie)).toEqual(fenced);
  expect(await appendEvents(conn, zombie, [{ type: 'text', node: 'a', text: 'x' }])).toEqual(fenced);
  expect(await stateOf(conn, owner.project, owner.run)).toEqual(before);
  expect(await finish(conn, owner, { phase: 'Succeeded' })).toEqual(done);
});

test('a value above 512 KiB is refused and nothing of the step is stored', async () => {
  const { conn } = store;
  const ref = await running();
  const step = {
    checkpoints: [succeededNode('a'), succeededNode('b', 'ü'.repeat(300_000))],
    starts: [start('c')],
  };
  expect(await advance(conn, ref, step)).toEqual({
    outcome: 'too-large',
    what: 'value',
    limitBytes: 524_288,
  });
  expect((await stateOf(conn, ref.project, ref.run)).nodes).toEqual([]);
});

test('a node that is too large with what it has sent is stored without it', async () => {
  const { conn } = store;
  const ref = await running();
  const nodes = [succeededNode('a', 'x'.repeat(520_000)), succeededNode('b')];
  const sent = { parameters: { body: 'x'.repeat(8_000) } };
  expect(
    await checkpoint(
      conn,
      ref,
      nodes.map((node) => ({ ...node, sent })),
    ),
  ).toEqual(done);
  expect((await stateOf(conn, ref.project, ref.run)).nodes).toEqual(nodes);
});

test('a run that is full to the brim still takes how a node failed, and its end', async () => {
  const { conn } = store;
  const ref = await running();
  const filled = (id: string, length: number) =>
    checkpoint(conn, ref, [succeededNode(id, 'x'.repeat(length))]);
  for (let count = 0; count < 16; count += 1) await filled(`n${count}`, 500_000);
  for (let length = 262_144; length >= 1; length /= 2) await filled(`half${length}`, length);
  expect(await advance(conn, ref, { starts: [start('late'), start('later'), start('latest')] })).toEqual(
    done,
  );
  const failed: NodeState = { id: 'late', phase: 'Failed', attempts: 1, reason: 'OutputTooLarge' };
  expect(await checkpoint(conn, ref, [failed])).toEqual(done);
  expect(await advance(conn, ref, { checkpoints: [failed], end: { phase: 'Failed' } })).toMatchObject({
    outcome: 'done',
  });
});

test('a run above 8 MiB takes no more output, and can still end', async () => {
  const { conn } = store;
  const ref = await running();
  const big = (id: string) => succeededNode(id, 'x'.repeat(500_000));
  for (let count = 0; count < 16; count += 1)
    expect(await checkpoint(conn, ref, [big(`n${count}`)])).toEqual(done);
  expect(await checkpoint(conn, ref, [big('last')])).toMatchObject({ outcome: 'too-large', what: 'run' });
  expect(await startNode(conn, ref, start('more'))).toEqual(done);
  // What is written again in place of what is there does not count twice.
  expect(await checkpoint(conn, ref, [big('n0')])).toEqual(done);
  expect(await finish(conn, ref, { phase: 'Failed', reason: 'OutputTooLarge' })).toEqual(done);
});

test('a run whose workflow was forgotten meanwhile still ends, and leaves nothing of the workflow', async () => {
  const { conn } = store;
  const ref = await running();
  await dropWorkflow(conn, ref.project, 'uid-orders');
  expect(await finish(conn, ref, { phase: 'Cancelled' })).toEqual(done);
  const state = await stateOf(conn, ref.project, ref.run);
  expect(await recorded(conn, state, 'written')).toBe('recorded');
  const { wf, summarized: summaries } = keysOf(ref.project);
  expect(await conn.command('hkeys', wf('uid-orders'))).toEqual(['deleted', 'suspended', 'limit']);
  expect(await conn.command('exists', summaries('uid-orders'))).toBe(0);
});

test('what a run takes is counted for its project, and released with it', async () => {
  const { conn } = store;
  const ref = await running();
  const used = async () => Number(await conn.command('hget', keysOf(ref.project).meta, 'bytes'));
  const before = await used();
  await checkpoint(conn, ref, [succeededNode('a', 'x'.repeat(10_000))]);
  expect(await used()).toBeGreaterThan(before + 10_000);
  await checkpoint(conn, ref, [succeededNode('a', '')]);
  expect(await used()).toBeLessThan(before + 1_000);
});

test('a step that is sent again is stored once, and one that was delayed on its way changes nothing', async () => {
  const { conn } = store;
  const ref = await running();
  const { sequence } = await stateOf(conn, ref.project, ref.run);
  const begin = { starts: [start('mail')], follows: sequence };
  const end = { checkpoints: [succeededNode('mail')], follows: sequence + 1 };
  expect(await advance(conn, ref, begin)).toEqual(done);
  expect(await advance(conn, ref, begin)).toEqual(done);
  expect(await advance(conn, ref, end)).toEqual(done);
  expect(await advance(conn, ref, begin)).toEqual(done);
  const after = await stateOf(conn, ref.project, ref.run);
  expect(after.nodes).toEqual([succeededNode('mail')]);
  expect(after.sequence).toBe(sequence + 2);
});

test('a step that follows what the store has lost is not stored; with all that is known it is, and newer than any record', async () => {
  const { conn } = store;
  const ref = await running();
  const { sequence } = await stateOf(conn, ref.project, ref.run);
  const putBack = await copyProject(conn, ref.project);
  await advance(conn, ref, { starts: [start('a')], follows: sequence });
  await advance(conn, ref, { checkpoints: [succeededNode('a')], follows: sequence + 1 });
  await putBack();
  const step = { starts: [start('mail', true)], follows: sequence + 2 };
  expect(await advance(conn, ref, step)).toEqual({ outcome: 'rewound' });
  expect(await stateOf(conn, ref.project, ref.run)).toMatchObject({ sequence, nodes: [] });
  const whole: Advance = { ...step, checkpoints: [succeededNode('a')], whole: true };
  expect(await advance(conn, ref, whole)).toEqual(done);
  expect(await advance(conn, ref, whole)).toEqual(done);
  const after = await stateOf(conn, ref.project, ref.run);
  expect(after).toMatchObject({
    sequence: sequence + 3,
    nodes: [{ id: 'a' }, { id: 'mail', mark: { attempt: 1 } }],
  });
});

test('a run that its runner got in doubt stays in doubt when the runner stores it again as a whole', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  await conn.command('hset', keysOf(project).run(run), 'doubt', 1);
  const [claim] = await claimed(conn, project);
  if (!claim) throw new Error('nothing was claimed');
  const writer = new RunWriter(conn, claim, createCollectedLog());
  const putBack = await copyProject(conn, project);
  await writer.store({ checkpoints: [succeededNode('a')] }, []);
  await putBack();
  expect(await writer.store({ checkpoints: [succeededNode('b')] }, [])).toEqual(done);
  expect(await stateOf(conn, project, run)).toMatchObject({
    doubt: true,
    nodes: [{ id: 'a' }, { id: 'b' }],
  });
});

test('a claim that the store has lost is taken back, until somebody else has claimed the run', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  const putBack = await copyProject(conn, project);
  const [claim] = await claimed(conn, project);
  if (!claim) throw new Error('nothing was claimed');
  const ref = refOf(claim);
  const back = () => rejoin(conn, ref, { ...claim.state, remainingMs: 5_000 });
  expect(await back()).toEqual({ outcome: 'fenced' });
  await putBack();
  expect(await back()).toEqual({ outcome: 'done' });
  const state = await stateOf(conn, project, ref.run);
  expect(state).toMatchObject({ phase: 'Running', epoch: claim.state.epoch });
  expect(await claimed(conn, project)).toEqual([]);
  expect(await finish(conn, ref, { phase: 'Succeeded' })).toEqual(done);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 1, active: 0 });
  expect(await back()).toEqual({ outcome: 'fenced' });
  await putBack();
  const other = await claimedOne(conn, project, 'runner-2');
  expect(await back()).toEqual({ outcome: 'fenced' });
  await handBack(conn, other);
  expect(await back()).toEqual({ outcome: 'fenced' });
});

/** Keeps this process from doing anything. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a mark whose answer is read late, by a process that stood still, is none with which an effect may begin', async () => {
  const { conn, redis } = store;
  const ref = await running();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [other] = (await once(server, 'connection')) as [Socket];
  // Read just before the answer, after which no timer has its turn.
  other.once('data', () => standStill(1_600));
  redis.freeze();
  const marked = startNode(conn, ref, start('mail', true));
  await setImmediate();
  await setImmediate();
  client.write('x');
  redis.thaw();
  standStill(200);
  expect(await marked).toMatchObject({ outcome: 'unavailable', why: 'connection' });
  client.destroy();
  server.close();
  await conn.ready();
});
