/** Calls of agents in the run store: stored once, counted, bounded, and gone with their agent or run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { readCalls } from '../../../runs/items.ts';
import { RUN_LIMIT_BYTES } from '../../../runs/room.ts';
import type { AgentCall } from '../../../runs/types/advance.ts';
import { keysOf } from '../../../store/keys.ts';
import { finish } from '../../support/runStore/calls.ts';
import { startedRun, startRunStore, stateOf, type TestStore } from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const done = { outcome: 'done', cancelRequested: false };
const answer = (key: string, value: string): AgentCall => ({ key, value, isAnswer: true });
const result = (key: string, value: string): AgentCall => ({ key, value, isAnswer: false });

async function bytesOf(project: string): Promise<number> {
  return Number(await store.conn.command('hget', keysOf(project).meta, 'bytes'));
}

test('answers and results are read back by their keys, and a claim does not read them', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  expect(await advance(conn, ref, { calls: [answer('a/m1', '{"n":1}')] })).toEqual(done);
  expect(
    await advance(conn, ref, { calls: [result('a/m1.0', '"x"'), result('l.0.0.1/a/m1.1', '"y"')] }),
  ).toEqual(done);
  expect(await readCalls(conn, ref)).toEqual(
    new Map([
      ['a/m1', '{"n":1}'],
      ['a/m1.0', '"x"'],
      ['l.0.0.1/a/m1.1', '"y"'],
    ]),
  );
  expect(JSON.stringify(await stateOf(conn, ref.project, ref.run))).not.toContain('"x"');
});

test('calls count as bytes of the run until they are dropped', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  const before = await bytesOf(ref.project);
  await advance(conn, ref, { calls: [answer('a/m1', 'x'.repeat(1_000)), result('a/m1.0', 'y'.repeat(500))] });
  expect(await bytesOf(ref.project)).toBe(before + 1_500);
  await advance(conn, ref, { droppedCalls: ['a/m1', 'a/m1.0'] });
  expect(await bytesOf(ref.project)).toBe(before);
  expect(await readCalls(conn, ref)).toEqual(new Map());
});

test('an answer is refused where the run has no room for the results of its tools, and a result never is', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  const reservedBytes = RUN_LIMIT_BYTES - 1_000;
  expect(await advance(conn, ref, { calls: [answer('a/m1', '{}')], reservedBytes })).toMatchObject({
    outcome: 'too-large',
    what: 'run',
  });
  expect(await readCalls(conn, ref)).toEqual(new Map());
  expect(await advance(conn, ref, { calls: [result('a/m1.0', '{}')], reservedBytes })).toEqual(done);
});

test('outputs leave the reserved room free', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  const output = { text_content: 'x'.repeat(2_000), data_content: null };
  const step = { checkpoints: [{ id: 'b', phase: 'Succeeded' as const, attempts: 1, output }] };
  const reservedBytes = RUN_LIMIT_BYTES - 3_000;
  expect(await advance(conn, ref, { ...step, reservedBytes })).toMatchObject({ outcome: 'too-large' });
  expect(await advance(conn, ref, step)).toEqual(done);
});

test.each(['Succeeded', 'Failed', 'Cancelled'] as const)(
  'a run that ends %s keeps no calls',
  async (phase) => {
    const { conn } = store;
    const ref = await startedRun(conn);
    await advance(conn, ref, { calls: [answer('a/m1', '{}')] });
    await finish(conn, ref, { phase });
    expect(await readCalls(conn, ref)).toEqual(new Map());
  },
);
