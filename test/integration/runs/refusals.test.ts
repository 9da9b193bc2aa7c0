/**
 * What the server refuses: nothing of what it was sent reaches a log, and keys of a wrong type are an outage
 * with a name.
 */
import { getEventListeners } from 'node:events';
import pino from 'pino';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../kube/client.ts';
import { advance } from '../../../runs/advance.ts';
import { finish } from '../../support/runStore/calls.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { connectRunStore, orUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { appendEvents } from '../../../runs/events.ts';
import { handBack, handBackAll } from '../../../runs/handback.ts';
import { keysOf } from '../../../store/keys.ts';
import { defineScript } from '../../../store/script.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readCounts, readRun, readSummary } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import { submit } from '../../../runs/submit.ts';
import { createTakeover, takeOver } from '../../../runs/takeover.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  startRunStore,
  stateOf,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const damaged = { outcome: 'unavailable', why: 'damaged' };

/** What an outcome says, without what it brings. */
function brief(outcome: { outcome: string; why?: string }) {
  return { outcome: outcome.outcome, ...(outcome.why !== undefined && { why: outcome.why }) };
}

function loggedText(error: unknown): string {
  const lines: string[] = [];
  const sink = new Writable({
    write: (line: Buffer, _encoding, next) => {
      lines.push(line.toString());
      next();
    },
  });
  pino(sink).error({ err: error }, 'failed');
  return lines.join('') + JSON.stringify(error) + String(error);
}

test.each([
  ['of a command', ['set', 'k', 'canary-value', 'canary-option']],
  ['of too few arguments', ['hset', 'canary-key', 'canary-field']],
  ['of an account', ['acl', 'setuser', 'someone', '>canary-password', 'canary-rule']],
  ['of a script', ['eval', 'return redis.call("canary", ARGV[1])', '0', 'canary-input']],
])('the error %s tells nothing of what was sent', async (_what, [name = '', ...args]) => {
  const error: unknown = await store.conn.command(name, ...args).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(loggedText(error)).not.toContain('canary');
});

/** All keys that a run of the project touches. */
function keysOfOne(project: string, run: string): Record<string, string> {
  const {
    meta,
    ready,
    overLimit,
    parked,
    claims,
    heartbeats,
    cancels,
    unrecorded,
    run: runKey,
    events,
    ...keys
  } = keysOf(project);
  const ofGroup = ['wf', 'runs', 'summarized', 'summaries'] as const;
  const fixed = { meta, ready, overLimit, parked, claims, heartbeats, cancels, unrecorded };
  const group = Object.fromEntries(ofGroup.map((name) => [name, keys[name]('uid-orders')]));
  return { ...fixed, ...group, run: runKey(run), events: events(run) };
}

async function withDamaged(key: string, check: () => Promise<void>): Promise<void> {
  const { conn } = store;
  const kept = await conn.command('rename', key, `${key}.kept`).catch(() => undefined);
  await conn.command('set', key, 'of somebody else');
  await check();
  await conn.command('del', key);
  if (kept !== undefined) await conn.command('rename', `${key}.kept`, key);
}

test.each(['meta', 'ready', 'wf'])(
  'with %s of a wrong type nothing is accepted, and once that is mended an event that was refused is one run',
  async (name) => {
    const { conn } = store;
    const project = await newProject(conn);
    await accepted(conn, submissionOf(project));
    const event = submissionOf(project, { dedupeKey: 'one' });
    await withDamaged(keysOfOne(project, '')[name] ?? '', async () => {
      expect(await submit(conn, event)).toMatchObject(damaged);
    });
    const run = await accepted(conn, event);
    const claims = [...(await claimed(conn, project)), ...(await claimed(conn, project))];
    expect(claims.map(({ state }) => state.run)).toContain(run);
  },
);

test.each([
  'meta',
  'ready',
  'claims',
  'heartbeats',
  'cancels',
  'unrecorded',
  'wf',
  'run',
  'events',
  'overLimit',
])(
  'with %s of a wrong type a run waits, and once that is mended it is executed to its recorded end',
  async (name) => {
    const { conn } = store;
    const project = await newProject(conn);
    const run = await accepted(conn, submissionOf(project));
    const key = keysOfOne(project, run)[name] ?? '';
    await withDamaged(key, async () => {
      const outcome = await claimRuns(conn, { project, runner: 'runner-1', max: 1 });
      expect([{ outcome: 'claimed' }, damaged]).toContainEqual(expect.objectContaining(brief(outcome)));
    });
    // What a runner does when the answer to its claim was lost.
    await handBackAll(conn, { project, runner: 'runner-1' });
    const ref = await claimedOne(conn, project);
    await withDamaged(key, async () => {
      const outcome = await finish(conn, ref, { phase: 'Succeeded' });
      expect([{ outcome: 'done' }, damaged]).toContainEqual(expect.objectContaining(brief(outcome)));
    });
    const again = await finish(conn, ref, { phase: 'Succeeded' });
    expect(['done', 'fenced']).toContain(again.outcome);
    expect(await stateOf(conn, project, run)).toMatchObject({ phase: 'Succeeded' });
    expect(await conn.command('zscore', keysOf(project).unrecorded, run)).not.toBeNull();
    expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 1, active: 0 });
  },
);

const concurrency = (
  conn: RunStoreConnection,
  project: string,
  limit: number,
  policy: WorkflowLimits['policy'] = 'Queue',
) =>
  setWorkflowLimits(conn, project, {
    workflowUid: 'uid-orders',
    concurrency: limit,
    policy,
    deadlineMs: 60_000,
  });

test.each(['meta', 'ready', 'overLimit', 'parked', 'unrecorded', 'wf', 'events'])(
  'with %s of a wrong type a run that is to wait keeps its runner, and once that is mended it waits and its slot is free',
  async (name) => {
    const { conn } = store;
    const project = await newProject(conn);
    await concurrency(conn, project, 1);
    const run = await accepted(conn, submissionOf(project));
    const next = await accepted(conn, submissionOf(project));
    const ref = await claimedOne(conn, project);
    const waiting: NodeState = { id: 'a', phase: 'Waiting', attempts: 1, reason: 'UpstreamError' };
    const park = () =>
      advance(conn, ref, { checkpoints: [waiting], waits: [{ id: 'a', delayMs: 60_000 }], parkMs: 60_000 });
    await withDamaged(keysOfOne(project, run)[name] ?? '', async () => {
      expect(await park()).toMatchObject(damaged);
    });
    expect(await park()).toEqual({ outcome: 'done', cancelRequested: false });
    expect(await stateOf(conn, project, run)).toMatchObject({ phase: 'Waiting', nodes: [waiting] });
    expect((await claimedOne(conn, project)).run).toBe(next);
  },
);

test('with q of a wrong type the runs of a dead runner wait, and its death counts once', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  const dead = { ...(await claimedOne(conn, project)), runner: 'runner-1', heartbeat: '0' };
  await withDamaged(keysOf(project).ready, async () => {
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(await takeOver(conn, dead)).toMatchObject(damaged);
  });
  expect(await takeOver(conn, dead)).toBe('ready');
  expect(await claimed(conn, project)).toMatchObject([{ alone: false, state: { crashes: 1 } }]);
});

test('with a run of a wrong type the other runs of a dead runner are taken over, and those of one that stops handed back', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const first = await accepted(conn, submissionOf(project));
  const others = [await accepted(conn, submissionOf(project)), await accepted(conn, submissionOf(project))];
  expect(await claimed(conn, project, 3, 'dead')).toHaveLength(3);
  const dead = { conn, project, runner: 'alive', deadAfterMs: 60, everyMs: 20 };
  await withDamaged(keysOf(project).run(first), async () => {
    const stop = new AbortController();
    const watching = createTakeover(dead).run(stop.signal);
    await expect.poll(async () => conn.command('zcard', keysOf(project).ready)).toBe(2);
    stop.abort();
    await watching;
    const again = await claimed(conn, project, 3, 'stops');
    expect(again.map(({ state: { run, crashes } }) => ({ run, crashes }))).toEqual(
      others.map((run) => ({ run, crashes: 1 })),
    );
    await conn.command('hset', keysOf(project).claims, first, 'stops/uid-orders/x');
    expect(await handBackAll(conn, { project, runner: 'stops' })).toMatchObject(damaged);
    expect(await conn.command('zcard', keysOf(project).ready)).toBe(2);
  });
});

test.each(['meta', 'unrecorded', 'wf', 'runs', 'summarized', 'summaries', 'dedupe'])(
  'with %s of a wrong type a recorded run is not released, and once that is mended it is, and its line is kept',
  async (name) => {
    const { conn } = store;
    const project = await newProject(conn);
    const run = await accepted(conn, submissionOf(project, { dedupeKey: 'one' }));
    await finish(conn, await claimedOne(conn, project), { phase: 'Succeeded' });
    const state = await stateOf(conn, project, run);
    const dk = keysOf(project).dedupe('uid-orders', state.dedupeHash ?? '');
    const keys: Record<string, string> = { ...keysOfOne(project, run), dedupe: dk };
    await withDamaged(keys[name] ?? '', async () => {
      expect(await recorded(conn, state, 'written')).toMatchObject(damaged);
    });
    expect(await recorded(conn, state, 'written')).toBe('recorded');
    expect(await readSummary(conn, project, 'uid-orders', run)).toMatchObject({ run, phase: 'Succeeded' });
    expect(await readUse(conn, project)).toMatchObject({ bytes: 0 });
    expect(await conn.command('ttl', dk)).toBeGreaterThan(0);
    const { unrecorded, runs } = keysOf(project);
    expect(await conn.command('exists', unrecorded, runs('uid-orders'))).toBe(0);
  },
);

test('a run that somebody removed from under its queue or its claim is released, and so is its slot', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await concurrency(conn, project, 1);
  const runs: string[] = [];
  for (let count = 0; count < 5; count += 1) runs.push(await accepted(conn, submissionOf(project)));
  const remove = (run = '') => conn.command('unlink', keysOf(project).run(run));
  await remove(runs[0]);
  await concurrency(conn, project, 2);
  const finished = await claimedOne(conn, project);
  expect(finished.run).toBe(runs[1]);
  await remove(finished.run);
  expect(await finish(conn, finished, { phase: 'Succeeded' })).toEqual({ outcome: 'fenced' });
  const rest = async () => {
    const claims = [...(await claimed(conn, project)), ...(await claimed(conn, project))];
    return claims.map(({ state }) => state.run);
  };
  await concurrency(conn, project, 3);
  expect(await rest()).toEqual(runs.slice(2));
  await remove(runs[2]);
  expect(await handBackAll(conn, { project, runner: 'runner-1' })).toMatchObject({ outcome: 'done' });
  expect((await rest()).toSorted()).toEqual(runs.slice(3).toSorted());
});

test('a run that somebody removed counts as failed and leaves nothing, and the next run of its workflow takes its slot', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const {
    run: keyOf,
    events,
    cancels,
    replaceable,
    overLimit,
    unrecorded,
    ready,
    runs: listed,
  } = keysOf(project);
  await concurrency(conn, project, 1, 'Queue');
  const runs: string[] = [];
  for (let count = 0; count < 6; count += 1) runs.push(await accepted(conn, submissionOf(project)));
  const claimNext = async () => ({
    ...(await claimedOne(conn, project)),
    runner: 'runner-1',
    heartbeat: '0',
  });
  const removals = [
    (ref: ClaimRef) => finish(conn, ref, { phase: 'Succeeded' }),
    (ref: ClaimRef) => handBack(conn, ref),
    (ref: ClaimRef) => appendEvents(conn, ref, [{ type: 'text', node: 'a', text: 'x' }]),
  ];
  await conn.command('unlink', keyOf(runs[0] ?? ''));
  for (const [index, call] of removals.entries()) {
    const ref = await claimNext();
    expect(ref.run).toBe(runs[index + 1]);
    await cancelRun(conn, project, ref.run);
    await conn.command('unlink', keyOf(ref.run));
    expect(await call(ref)).toEqual({ outcome: 'fenced' });
  }
  const dead = await claimNext();
  await conn.command('unlink', keyOf(dead.run));
  expect(await takeOver(conn, dead)).toBe('fenced');
  await finish(conn, await claimNext(), { phase: 'Succeeded' });
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({
    failed: 5,
    succeeded: 1,
    active: 0,
  });
  const gone = runs.slice(0, 5).flatMap((run) => [keyOf(run), events(run)]);
  expect(await conn.command('exists', ...gone, cancels, replaceable, overLimit, ready)).toBe(0);
  for (const key of [unrecorded, listed('uid-orders')])
    expect(await conn.command('zrange', key, 0, -1)).toEqual(runs.slice(5));
});

test('a run that somebody removed is not waited for by those that replace others', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await concurrency(conn, project, 1, 'Replace');
  await accepted(conn, submissionOf(project));
  const ref = await claimedOne(conn, project);
  const { run, replaceable, cancels } = keysOf(project);
  await conn.command('unlink', run(ref.run));
  await handBack(conn, ref);
  expect(await conn.command('exists', replaceable)).toBe(0);
  await accepted(conn, submissionOf(project));
  expect(await conn.command('exists', cancels)).toBe(0);
});

test('a recorder that fails leaves nothing of itself behind: it begins again', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  await claimedOne(conn, project);
  const { unrecorded, run: keyOf } = keysOf(project);
  await conn.command('hset', keyOf(run), 'head', 'of somebody else');
  await conn.command('zadd', unrecorded, 0, run);
  const kube = createClient({ server: 'https://127.0.0.1:1', auth: {} });
  const stop = new AbortController();
  const { signal } = stop;
  await expect(createRecorder({ conn, kube, project, namespace: project }).run(signal)).rejects.toThrow(
    'JSON',
  );
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  stop.abort();
  await kube.close();
});

test('the log names the keys that are of a wrong type, once a minute', async () => {
  const log = createCollectedLog();
  const conn = connectRunStore({ url: store.redis.url, name: 'logged', log });
  await conn.ready();
  const project = await newProject(conn);
  const { run } = keysOf(project);
  await conn.command('set', run('damaged'), 'of somebody else');
  for (let times = 0; times < 3; times += 1)
    expect(await readRun(conn, project, 'damaged')).toMatchObject(damaged);
  const ref = { project, run: 'damaged', token: 'x' };
  expect(await advance(conn, ref, { checkpoints: [succeededNode('a')] })).toEqual({ outcome: 'fenced' });
  const said = log.entries.filter(({ level }) => level === 'error');
  expect(said.map(({ fields }) => fields)).toEqual([{ keys: [run('damaged')] }]);
  await conn.close();
});

test('a call that cannot even be made fails alone, as a defect and not as an outage, and those of the same turn are answered', async () => {
  const counting = defineScript({ keys: [], body: 'return #ARGV' });
  const noText = Object.create(null) as string;
  const before = store.conn.command('echo', 'before');
  const impossible = orUnavailable(() => store.conn.script(counting, [], [noText]));
  const after = store.conn.command('echo', 'after');
  await expect(impossible).rejects.toThrow('primitive value');
  expect(await Promise.all([before, after])).toEqual(['before', 'after']);
});
