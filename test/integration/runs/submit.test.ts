/** Accepting events: one dedupe key, one run; nothing is accepted that is not stored. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { keysOf } from '../../../store/keys.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { openProject } from '../../../runs/project.ts';
import { readCounts, readRun } from '../../../runs/read.ts';
import { DEDUPE_KEY_BYTES } from '../../../runs/room.ts';
import { submit } from '../../../runs/submit.ts';
import {
  accepted,
  claimedOne,
  newProject,
  startRunStore,
  stateOf,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore()));
afterAll(() => store?.stop());

const reply = { status: 201, headers: {}, body: '{"ok":true}', contentType: 'application/json' };

test('an accepted event is a pending run with its input byte for byte', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const input = '{"text_content":"","data_content":{"b":1.50,"a":"ü \\u0000"}}';
  const run = await accepted(
    conn,
    submissionOf(project, { input, test: true, until: 'a', retryOf: 'earlier', requestedBy: 'ada' }),
  );
  expect(run).toMatch(/^orders-[0-9a-z]{15}$/);
  expect(await stateOf(conn, project, run)).toMatchObject({
    run,
    project,
    workflow: 'orders',
    workflowUid: 'uid-orders',
    revision: 'orders-1',
    trigger: 'webhook',
    phase: 'Pending',
    test: true,
    until: 'a',
    retryOf: 'earlier',
    requestedBy: 'ada',
    input,
    nodes: [],
  });
});

test('the same key gives the same run, and with another body it is a conflict', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'delivery-1' });
  const first = await submit(conn, event);
  expect(first).toMatchObject({ outcome: 'accepted', duplicate: false });
  const run = first.outcome === 'accepted' ? first.run : '';
  expect(await submit(conn, event)).toEqual({ outcome: 'accepted', run, duplicate: true });
  expect(await submit(conn, { ...event, bodyHash: 'another' })).toEqual({ outcome: 'conflict', run });
  expect(await submit(conn, { ...event, workflowUid: 'uid-other' })).toMatchObject({ duplicate: false });
});

test.each([
  [
    'a schedule',
    { trigger: 'schedule', dedupeKey: 'schedule/2026-11-21T00:00:00Z' },
    'schedule/2026-11-21T00:00:00Z',
  ],
  ['an object', { recordUid: 'uid-1', run: 'mine' }, 'object/uid-1'],
  ['a name', { run: 'other' }, 'run/other'],
])('a key that a caller chose is never the one of %s', async (_what, own, key) => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project, { dedupeKey: key, bodyHash: 'a caller' }));
  expect(await submit(conn, submissionOf(project, own))).toMatchObject({
    outcome: 'accepted',
    duplicate: false,
  });
});

test('of many submissions of one key at the same time one makes the run', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'delivery-2' });
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => submit(conn, event)));
  const made = outcomes.filter((it) => it.outcome === 'accepted' && !it.duplicate);
  const names = new Set(outcomes.map((it) => (it.outcome === 'accepted' ? it.run : it.outcome)));
  expect(made).toHaveLength(1);
  expect(names.size).toBe(1);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ active: 1 });
});

test('a run that resumes a run in doubt is in doubt', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const resumed = { origin: 'first', decisions: [], nodes: [], items: new Map() };
  const one = await accepted(conn, submissionOf(project, { resumed: { ...resumed, isInDoubt: true } }));
  const other = await accepted(conn, submissionOf(project, { resumed }));
  expect((await stateOf(conn, project, one)).doubt).toBe(true);
  expect((await stateOf(conn, project, other)).doubt).toBeUndefined();
});

test('events without a key are runs of their own', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const names = await Promise.all(Array.from({ length: 200 }, () => accepted(conn, submissionOf(project))));
  expect(new Set(names).size).toBe(200);
});

test('a run that was made as an object is submitted once, also after it has been recorded', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { run: 'by-hand', recordUid: 'uid-1' });
  expect(await submit(conn, event)).toMatchObject({ run: 'by-hand', duplicate: false });
  expect(await submit(conn, event)).toMatchObject({ run: 'by-hand', duplicate: true });
  expect(await submit(conn, { ...event, recordUid: 'uid-2' })).toEqual({
    outcome: 'conflict',
    run: 'by-hand',
  });
  await advance(conn, await claimedOne(conn, project), { end: { phase: 'Succeeded' } });
  await recorded(conn, await stateOf(conn, project, 'by-hand'), 'written');
  await conn.command('unlink', keysOf(project).run('by-hand'));
  expect(await submit(conn, event)).toMatchObject({ run: 'by-hand', duplicate: true });
});

test('a repeated request gets the reply that was given, while the run lives and after it was recorded', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'delivery-3' });
  const run = await accepted(conn, event);
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, { reply });
  expect(await submit(conn, event)).toEqual({ outcome: 'accepted', run, duplicate: true, reply });
  await advance(conn, ref, { end: { phase: 'Succeeded' } });
  expect(await recorded(conn, await stateOf(conn, project, run), 'written')).toBe('recorded');
  await conn.command('unlink', keysOf(project).run(run));
  expect(await submit(conn, event)).toEqual({ outcome: 'accepted', run, duplicate: true, reply });
});

test('a key that was forgotten starts a run under a name of its own, since the old one may be recorded still', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'delivery-5' });
  const first = await accepted(conn, event);
  const { dedupeHash = '' } = await stateOf(conn, project, first);
  await conn.command('unlink', keysOf(project).dedupe('uid-orders', dedupeHash), keysOf(project).run(first));
  expect(await accepted(conn, event)).not.toBe(first);
});

test('a run whose key was removed and given to another run says nothing about that one', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'delivery-6' });
  const first = await accepted(conn, event);
  const { dedupeHash = '' } = await stateOf(conn, project, first);
  const key = keysOf(project).dedupe('uid-orders', dedupeHash);
  await conn.command('unlink', key);
  const second = await accepted(conn, event);
  await advance(conn, await claimedOne(conn, project), { end: { phase: 'Failed' } });
  expect(await recorded(conn, await stateOf(conn, project, first), 'written')).toBe('recorded');
  expect(await conn.command('ttl', key)).toBe(-1);
  expect(await submit(conn, event)).toEqual({ outcome: 'accepted', run: second, duplicate: true });
  expect(await conn.command('hget', keysOf(project).meta, 'keys')).toBe(String(DEDUPE_KEY_BYTES));
});

test('the dedupe key has no end before the run is recorded, and seven days afterwards', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project, { dedupeKey: 'delivery-4' }));
  const { dedupeHash = '' } = await stateOf(conn, project, run);
  const key = keysOf(project).dedupe('uid-orders', dedupeHash);
  expect(await conn.command('ttl', key)).toBe(-1);
  await advance(conn, await claimedOne(conn, project), { end: { phase: 'Failed', reason: 'Timeout' } });
  await recorded(conn, await stateOf(conn, project, run), 'written');
  expect(await conn.command('ttl', key)).toBeGreaterThan(7 * 24 * 3600 - 60);
});

test('without its id the store accepts nothing, and says so', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await conn.command('hdel', keysOf(project).meta, 'id');
  const noStore = { outcome: 'unavailable', why: 'no-store' };
  expect(await submit(conn, submissionOf(project))).toMatchObject(noStore);
  expect(await advance(conn, { project, run: 'x', token: 'r/w/1' }, {})).toMatchObject(noStore);
  expect(await openProject(conn, project)).toMatchObject({ fresh: true });
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test('a project that has used its quota accepts nothing more until runs have gone', async () => {
  const { conn } = store;
  const project = await newProject(conn, 10_000);
  const event = submissionOf(project, { input: JSON.stringify({ text_content: 'x'.repeat(3_000) }) });
  const first = await accepted(conn, event);
  await accepted(conn, event);
  expect(await submit(conn, event)).toMatchObject({ outcome: 'unavailable', why: 'full' });
  const ref = await claimedOne(conn, project);
  expect(ref.run).toBe(first);
  expect(await advance(conn, ref, { end: { phase: 'Succeeded' } })).toMatchObject({ outcome: 'done' });
  await recorded(conn, await stateOf(conn, project, first), 'written');
  expect(await submit(conn, event)).toMatchObject({ outcome: 'accepted' });
});

test('when the memory is full nothing enters, and what is there still ends', async () => {
  const full = await startRunStore({ appendfsync: 'no', maxmemory: 6 * 1024 * 1024 });
  try {
    const project = await newProject(full.conn);
    const event = submissionOf(project, { input: JSON.stringify({ text_content: 'x'.repeat(200_000) }) });
    let outcome = await submit(full.conn, event);
    for (let count = 0; count < 100 && outcome.outcome === 'accepted'; count += 1)
      outcome = await submit(full.conn, event);
    expect(outcome).toMatchObject({ outcome: 'unavailable', why: 'full' });
    const ref = await claimedOne(full.conn, project);
    const node = { id: 'a', phase: 'Succeeded', attempts: 1, output: { text_content: 'y', data_content: 1 } };
    expect(
      await advance(full.conn, ref, {
        checkpoints: [{ ...node, phase: 'Succeeded' }],
        end: { phase: 'Succeeded' },
      }),
    ).toMatchObject({ outcome: 'done' });
    expect(await readRun(full.conn, project, ref.run)).toMatchObject({ phase: 'Succeeded' });
  } finally {
    await full.stop();
  }
});
