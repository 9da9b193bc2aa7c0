/**
 * Memories of agents: used by one run at a time, stored once with the end of the agent, bounded, counted,
 * deleted, and gone with the workflow.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { wakeDue } from '../../../runs/due.ts';
import { listMemories, readMemory } from '../../../runs/memoryList.ts';
import { expireMemories, forgetMemory } from '../../../runs/memoryRemoval.ts';
import {
  askMemory,
  MEMORY_LIMIT_BYTES,
  MEMORY_OVERHEAD_BYTES,
  MOST_TURNS,
  TURN_OVERHEAD_BYTES,
} from '../../../runs/memory.ts';
import { LONGEST_LINE } from '../../../runs/memoryLocks.ts';
import { takeOver } from '../../../runs/takeover.ts';
import type { Advance, MemoryEnd } from '../../../runs/types/advance.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { keysOf } from '../../../store/keys.ts';
import { finish, setQuota } from '../../support/runStore/calls.ts';
import {
  accepted,
  claimed,
  newProject,
  refOf,
  startRunStore,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

const WORKFLOW = 'uid-orders';
const DAY_MS = 86_400_000;
const ada = { name: 'agent', key: 'ada' };

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

async function ask(ref: ClaimRef, { node = 'agent', space = ada } = {}): Promise<string[] | string> {
  const asked = await askMemory(store.conn, ref, { node, space, most: MOST_TURNS });
  return asked.outcome === 'granted' ? asked.turns : asked.outcome;
}

const ended = (turn: string, { node = 'agent', space = ada, ttlMs = DAY_MS } = {}): MemoryEnd => ({
  node,
  remembered: { ...space, turn, ttlMs },
});

const end = (ref: ClaimRef, turn: string, changes: Advance = {}, space = ada) =>
  advance(store.conn, ref, {
    checkpoints: [succeededNode('agent')],
    memories: [ended(turn, { space })],
    ...changes,
  });

/** A run asks for the memory and stores a turn. */
async function turn(project: string, text: string, space = ada, changes: Partial<Submission> = {}) {
  const ref = await running(project, changes);
  expect(await ask(ref, { space })).toBeInstanceOf(Array);
  await end(ref, text, {}, space);
  return ref;
}

async function turnsOf(project: string, space = ada, group = WORKFLOW): Promise<string[]> {
  const read = await readMemory(store.conn, project, group, space);
  return read.outcome === 'read' ? read.turns : [];
}

const counted = async (project: string, field = 'bytes') =>
  Number(await store.conn.command('hget', keysOf(project).meta, field));
const locksOf = async (project: string) =>
  (await store.conn.command('hlen', keysOf(project).memoryLocks)) as number;

/** Lets time pass for the project. */
const pass = (project: string, ms: number) =>
  store.conn.command('hincrby', keysOf(project).meta, 'ahead', ms);

test('a turn is stored with the end of its agent, and given to the next run that asks', async () => {
  const project = await newProject(store.conn);
  const first = await running(project);
  expect(await ask(first)).toEqual([]);
  await end(first, 'one');
  const second = await running(project);
  expect(await ask(second)).toEqual(['one']);
  await end(second, 'two');
  expect(await turnsOf(project)).toEqual(['one', 'two']);
  expect(await locksOf(project)).toBe(0);
});

test('a repeated step stores its turn once', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  await ask(ref);
  await end(ref, 'one', { follows: 1 });
  await end(ref, 'one', { follows: 1 });
  await end(ref, 'one', { follows: 2 });
  expect(await turnsOf(project)).toEqual(['one']);
});

test('a run that does not own the memory stores no turn', async () => {
  const project = await newProject(store.conn);
  const [owner, other] = [await running(project), await running(project)];
  await ask(owner);
  expect(await ask(other)).toBe('waiting');
  await end(other, 'mixed');
  await end(owner, 'own');
  expect(await turnsOf(project)).toEqual(['own']);
});

test('runs of one key use the memory in the order in which they asked, those of other keys at once', async () => {
  const project = await newProject(store.conn);
  const refs = [await running(project), await running(project), await running(project)] as const;
  expect(await ask(refs[0])).toEqual([]);
  expect(await ask(refs[1])).toBe('waiting');
  expect(await ask(refs[2])).toBe('waiting');
  expect(await ask(await running(project), { space: { name: 'agent', key: 'bob' } })).toEqual([]);
  await end(refs[0], 'one');
  expect(await ask(refs[2])).toBe('waiting');
  expect(await ask(refs[1])).toEqual(['one']);
  await end(refs[1], 'two');
  expect(await ask(refs[2])).toEqual(['one', 'two']);
});

test('two nodes of one run use a memory one after the other', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  expect(await ask(ref, { node: 'l.0.0.1/agent' })).toEqual([]);
  expect(await ask(ref, { node: 'l.1.0.1/agent' })).toBe('waiting');
  await advance(store.conn, ref, { memories: [ended('one', { node: 'l.0.0.1/agent' })] });
  expect(await ask(ref, { node: 'l.1.0.1/agent' })).toEqual(['one']);
});

test('so many wait for a memory, and no more: a long line would keep the run store busy', async () => {
  const project = await newProject(store.conn);
  const [ref, other] = [await running(project), await running(project)];
  for (let count = 0; count <= LONGEST_LINE; count += 1) await ask(ref, { node: `l.${count}.0.1/agent` });
  expect(await ask(other)).toBe('full');
  expect(await ask(ref, { node: `l.${LONGEST_LINE}.0.1/agent` })).toBe('waiting');
  await advance(store.conn, ref, { memories: [ended('one', { node: 'l.0.0.1/agent' })] });
  expect(await ask(other)).toBe('waiting');
});

test('the run that takes over asks again, and owns the memory', async () => {
  const project = await newProject(store.conn);
  const ref = await running(project);
  const other = await running(project);
  await ask(ref);
  await ask(other);
  const heartbeat = (await store.conn.command('hget', keysOf(project).heartbeats, 'runner-1')) as string;
  expect(await takeOver(store.conn, { ...ref, runner: 'runner-1', heartbeat })).toBe('ready');
  expect(await ask(ref)).toBe('fenced');
  const [again] = await claimed(store.conn, project, 1, 'runner-2');
  if (!again) throw new Error('nothing was ready');
  expect(await ask(refOf(again))).toEqual([]);
  expect(await ask(other)).toBe('waiting');
});

test.each([
  ['ends', (ref: ClaimRef) => finish(store.conn, ref, { phase: 'Failed' })],
  [
    'waits for a retry and is cancelled',
    async (ref: ClaimRef) => {
      const node = { id: 'agent', phase: 'Waiting', attempts: 1 } as const;
      await advance(store.conn, ref, {
        checkpoints: [node],
        waits: [{ id: 'agent', delayMs: 60_000 }],
        parkMs: 60_000,
      });
      await cancelRun(store.conn, ref.project, ref.run);
    },
  ],
  [
    'loses its key',
    async (ref: ClaimRef) => {
      await store.conn.command('unlink', keysOf(ref.project).run(ref.run));
      await finish(store.conn, ref, { phase: 'Failed' });
    },
  ],
])('a run that %s releases its memory', async (_how, stop) => {
  const project = await newProject(store.conn);
  const [owner, other] = [await running(project), await running(project)];
  await ask(owner);
  await ask(other);
  await stop(owner);
  expect(await ask(other)).toEqual([]);
  await end(other, 'one');
  expect(await locksOf(project)).toBe(0);
});

test('a parked run that waits is woken when it owns the memory', async () => {
  const project = await newProject(store.conn);
  const [owner, other] = [await running(project), await running(project)];
  await ask(owner);
  await ask(other);
  const node = { id: 'agent', phase: 'Waiting', attempts: 0, waitingFor: { memory: true } } as const;
  await advance(store.conn, other, {
    checkpoints: [node],
    waits: [{ id: 'agent', delayMs: 600_000 }],
    parkMs: 600_000,
  });
  await wakeDue(store.conn, project);
  expect(await claimed(store.conn, project)).toEqual([]);
  await end(owner, 'one');
  await wakeDue(store.conn, project);
  const [again] = await claimed(store.conn, project);
  if (!again) throw new Error('it was not woken');
  expect(again.state.run).toBe(other.run);
  expect(await ask(refOf(again))).toEqual(['one']);
});

test('a run that has come to own the memory is not parked, and told so', async () => {
  const project = await newProject(store.conn);
  const [owner, other] = [await running(project), await running(project)];
  await ask(owner);
  await ask(other);
  await end(owner, 'one');
  expect(await advance(store.conn, other, { parkMs: 60_000 })).toEqual({
    outcome: 'done',
    cancelRequested: false,
    signaled: true,
  });
  expect(await ask(other)).toEqual(['one']);
  expect(await advance(store.conn, other, { parkMs: 60_000 })).toEqual({
    outcome: 'done',
    cancelRequested: false,
  });
});

test('runs that were accepted before a deletion store no turn, whether they had asked or not', async () => {
  const project = await newProject(store.conn);
  await turn(project, 'old');
  const [owner, waiter, later] = [await running(project), await running(project), await running(project)];
  await ask(owner);
  await ask(waiter);
  expect(await forgetMemory(store.conn, project, WORKFLOW, ada)).toEqual({ outcome: 'done', turns: 1 });
  await end(owner, 'forgotten');
  expect(await ask(waiter)).toEqual([]);
  await end(waiter, 'forgotten');
  await turn(project, 'new');
  expect(await ask(later)).toEqual(['new']);
  await end(later, 'forgotten');
  expect(await turnsOf(project)).toEqual(['new']);
});

test('a key has at most 200 turns and 256 KiB: the oldest leave first', async () => {
  const project = await newProject(store.conn);
  const before = await counted(project);
  for (let count = 0; count < MOST_TURNS + 2; count += 1) await turn(project, `turn ${count}`);
  const turns = await turnsOf(project);
  expect(turns).toHaveLength(MOST_TURNS);
  expect([turns[0], turns.at(-1)]).toEqual(['turn 2', `turn ${MOST_TURNS + 1}`]);
  for (let count = 0; count < 8; count += 1) await turn(project, `${count}`.repeat(60_000));
  expect((await turnsOf(project)).map((text) => text[0])).toEqual(['4', '5', '6', '7']);
  expect(await counted(project, 'memory')).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
  await forgetMemory(store.conn, project, WORKFLOW, ada);
  expect(await counted(project, 'memory')).toBe(2 * MEMORY_OVERHEAD_BYTES);
  expect(await counted(project)).toBeGreaterThan(before);
});

test('memories expire after their last turn, and their bytes are subtracted', async () => {
  const project = await newProject(store.conn);
  await turn(project, 'one');
  await turn(project, 'one', { name: 'agent', key: 'bob' });
  await pass(project, DAY_MS / 2);
  await turn(project, 'two');
  await pass(project, DAY_MS / 2 + 1_000);
  expect(await expireMemories(store.conn, project)).toEqual({ outcome: 'done', removed: 1 });
  expect(await turnsOf(project)).toEqual(['one', 'two']);
  await pass(project, DAY_MS);
  expect(await expireMemories(store.conn, project)).toEqual({ outcome: 'done', removed: 1 });
  expect(await counted(project, 'memory')).toBe(0);
});

test('beyond a quarter of the quota those that expire first are removed, unless a run uses them', async () => {
  const project = await newProject(store.conn);
  for (const key of ['a', 'b', 'c', 'd']) await turn(project, 'x'.repeat(50_000), { name: 'agent', key });
  await ask(await running(project), { space: { name: 'agent', key: 'a' } });
  await setQuota(store.conn, project, 4 * 120_000);
  expect(await expireMemories(store.conn, project)).toMatchObject({ removed: 2 });
  const listed = await listMemories(store.conn, project, WORKFLOW, { limit: 10 });
  expect('items' in listed && listed.items.map(({ key }) => key).toSorted()).toEqual(['a', 'd']);
});

test('a test run has a memory of its own', async () => {
  const project = await newProject(store.conn);
  await turn(project, 'live');
  await turn(project, 'tested', ada, { test: true });
  expect(await turnsOf(project)).toEqual(['live']);
  expect(await turnsOf(project, ada, `${WORKFLOW}.test`)).toEqual(['tested']);
  expect(await forgetMemory(store.conn, project, WORKFLOW, ada)).toMatchObject({ turns: 2 });
});

test('they are listed with those that were used last first, and go with the workflow', async () => {
  const project = await newProject(store.conn);
  const strange = { name: 'agent', key: 'a b\n% \u{1f600} {x}' };
  const before = await counted(project);
  const refs = [await turn(project, 'one'), await turn(project, 'two', strange)];
  for (const ref of refs) await finish(store.conn, ref, { phase: 'Succeeded' });
  const listed = await listMemories(store.conn, project, WORKFLOW, { limit: 10 });
  const bytes = MEMORY_OVERHEAD_BYTES + TURN_OVERHEAD_BYTES + 3 + 2 * 'agentada'.length;
  expect(listed).toMatchObject({ total: 2 });
  expect('items' in listed && listed.items.find(({ key }) => key === 'ada')).toEqual({
    ...ada,
    test: false,
    turns: 1,
    bytes,
    usedAt: expect.any(Number) as number,
  });
  const found = await listMemories(store.conn, project, WORKFLOW, { contains: '{x}', limit: 10 });
  expect(found).toMatchObject({ total: 1, items: [strange] });
  await dropWorkflow(store.conn, project, WORKFLOW);
  expect(await counted(project, 'memory')).toBe(0);
  expect(await counted(project)).toBeGreaterThanOrEqual(before);
  const { memory, memories, memoryExpiry } = keysOf(project);
  expect(await store.conn.command('exists', memory(WORKFLOW), memories(WORKFLOW), memoryExpiry)).toBe(0);
});

test('what is counted is what Redis takes', async () => {
  const project = await newProject(store.conn);
  const spaces = Array.from({ length: 600 }, (_, index) => ({ name: 'agent', key: `chat ${index}` }));
  const ref = await running(project);
  for (const [index, space] of spaces.entries()) await ask(ref, { node: `l.${index}.0.1/a`, space });
  const ends = spaces.map((space, index) => ended('x'.repeat(1_000), { node: `l.${index}.0.1/a`, space }));
  for (let at = 0; at < ends.length; at += 100)
    await advance(store.conn, ref, { memories: ends.slice(at, at + 100) });
  const { memory, memories, memoryExpiry } = keysOf(project);
  const sizes = [memory(WORKFLOW), memories(WORKFLOW), memoryExpiry].map((key) =>
    store.conn.command('memory', 'usage', key, 'samples', '0'),
  );
  const used = (await Promise.all(sizes)).reduce<number>((sum, size) => sum + Number(size), 0);
  expect(await counted(project, 'memory')).toBeGreaterThan(used);
  expect(await counted(project, 'memory')).toBeLessThan(used * 1.6);
});
