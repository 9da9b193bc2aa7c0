/** Live events: everything that happens, in order, once; bounded; and never in the way. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { wakeDue } from '../../../runs/due.ts';
import { appendEvents, createEventWriter, followEvents, readEvents } from '../../../runs/events.ts';
import { keysOf } from '../../../store/keys.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { RunEvent } from '../../../runs/types/event.ts';
import { pollUntil } from '../../support/time/poll.ts';
import {
  accepted,
  claimedOne,
  newProject,
  startRunStore,
  submissionOf,
  succeededNode,
  type TestStore,
  startedRun,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const running = (quotaBytes?: number) => startedRun(store.conn, quotaBytes);

async function events({ project, run }: ClaimRef, after?: string, limit = 2_000): Promise<RunEvent[]> {
  const found = await readEvents(store.conn, project, run, { limit, ...(after && { after }) });
  if (isUnavailable(found)) throw new Error('the store did not answer');
  return found;
}

const texts = (list: RunEvent[]) => list.flatMap((event) => (event.type === 'text' ? [event.text] : []));
const never = () => new AbortController().signal;

async function collect(ref: ClaimRef, after?: string): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of followEvents(store.conn, ref.project, ref.run, {
    signal: AbortSignal.timeout(10_000),
    ...(after && { after }),
  }))
    all.push(event);
  return all;
}

test('a follower sees the run begin, its nodes, its text and its end, and then the stream ends', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  const following = collect({ project, run, token: '' });
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, { starts: [{ id: 'agent', attempt: 1, atMostOnce: false, at: 1 }] });
  await appendEvents(conn, ref, [{ type: 'text', node: 'agent', text: 'Hello' }]);
  await advance(conn, ref, { checkpoints: [succeededNode('agent')], end: { phase: 'Succeeded' } });
  const seen = await following;
  expect(
    seen.map(({ type, ...rest }) => [type, 'phase' in rest ? rest.phase : 'text' in rest && rest.text]),
  ).toEqual([
    ['run', 'Running'],
    ['node', 'Running'],
    ['text', 'Hello'],
    ['node', 'Succeeded'],
    ['run', 'Succeeded'],
  ]);
  expect(seen.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
  expect(seen.every(({ at }) => Math.abs(at - Date.now()) < 60_000)).toBe(true);
});

test('a follower that comes back gets what it has not seen', async () => {
  const { conn } = store;
  const ref = await running();
  await appendEvents(conn, ref, [
    { type: 'text', node: 'a', text: '1' },
    { type: 'text', node: 'a', text: '2' },
  ]);
  await advance(conn, ref, { end: { phase: 'Failed', reason: 'Timeout', message: 'too long' } });
  const rest = await collect(ref, '2');
  expect(texts(rest)).toEqual(['2']);
  expect(rest.at(-1)).toMatchObject({ type: 'run', phase: 'Failed', reason: 'Timeout', message: 'too long' });
  expect(await collect(ref, rest.at(-1)?.id)).toEqual([]);
  expect((await collect(ref, 'no number')).length).toBe(4);
});

test('following a run that is not there, or whose events are gone, ends at once', async () => {
  const ref = await running();
  expect(await collect({ ...ref, run: 'no-such-run' })).toEqual([]);
  await advance(store.conn, ref, { end: { phase: 'Succeeded' } });
  await store.conn.command('unlink', keysOf(ref.project).events(ref.run));
  expect(await collect(ref)).toEqual([]);
});

test('an aborted follower ends', async () => {
  const ref = await running();
  const abort = new AbortController();
  const iterator = followEvents(store.conn, ref.project, ref.run, { signal: abort.signal });
  expect((await iterator.next()).value).toMatchObject({ type: 'run' });
  const next = iterator.next();
  abort.abort();
  expect((await next).done).toBe(true);
});

test('of more than a thousand events the last thousand are kept', async () => {
  const { conn } = store;
  const ref = await running();
  for (let batch = 0; batch < 13; batch += 1)
    await appendEvents(
      conn,
      ref,
      Array.from({ length: 100 }, (_, index) => ({
        type: 'text',
        node: 'a',
        text: `${batch * 100 + index}`,
      })),
    );
  const kept = await events(ref);
  expect(kept).toHaveLength(1_000);
  expect(texts(kept).at(-1)).toBe('1299');
  expect(texts(await events(ref, '5', 1))).toEqual(['300']);
});

test('the events of a run take at most 256 KiB', async () => {
  const { conn } = store;
  const ref = await running();
  for (let count = 0; count < 60; count += 1)
    await appendEvents(conn, ref, [{ type: 'text', node: 'a', text: `${count}`.padEnd(10_000, 'x') }]);
  const kept = await events(ref);
  const bytes = kept.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
  expect(bytes).toBeGreaterThan(200_000);
  expect(bytes).toBeLessThan(270_000);
  expect(texts(kept).at(-1)?.startsWith('59x')).toBe(true);
});

test('events go ten minutes after the end, and sooner when many runs end', async () => {
  const { conn } = store;
  const ref = await running();
  await advance(conn, ref, { end: { phase: 'Succeeded' } });
  const key = keysOf(ref.project).events(ref.run);
  expect(await conn.command('ttl', key)).toBe(600);

  await conn.command('hset', keysOf(ref.project).meta, 'ends', 6_000);
  await accepted(conn, submissionOf(ref.project));
  const next = await claimedOne(conn, ref.project);
  await advance(conn, next, { end: { phase: 'Succeeded' } });
  // At the turn of a minute the count starts from zero.
  expect([10, 600]).toContain(await conn.command('ttl', keysOf(ref.project).events(next.run)));
});

test('events go sooner when runs with much text end, so that those of a project take little at any rate', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const kept: number[] = [];
  for (let count = 0; count < 12; count += 1) {
    await accepted(conn, submissionOf(project));
    const ref = await claimedOne(conn, project);
    const text = { type: 'text' as const, node: 'a', text: 'x'.repeat(16_000) };
    await appendEvents(
      conn,
      ref,
      Array.from({ length: 16 }, () => text),
    );
    await advance(conn, ref, { end: { phase: 'Succeeded' } });
    kept.push(Number(await conn.command('ttl', keysOf(project).events(ref.run))));
  }
  expect(kept[0]).toBe(600);
  // At the turn of a minute the count starts from zero.
  expect(Math.min(...kept)).toBeLessThan(400);
});

test('of a run that parks the last 8 KiB of events are kept, and it goes on from there', async () => {
  const { conn } = store;
  const ref = await running();
  for (let count = 0; count < 20; count += 1)
    await appendEvents(conn, ref, [{ type: 'text', node: 'a', text: `${count}`.padEnd(1_000, 'x') }]);
  await advance(conn, ref, { parkMs: 0 });
  const kept = await events(ref);
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(9_000);
  expect(kept.slice(-2)).toMatchObject([{ text: expect.stringMatching(/^19x/) }, { phase: 'Waiting' }]);
  expect(kept.map(({ id }) => Number(id)).at(-1)).toBe(22);
  await wakeDue(conn, ref.project);
  await appendEvents(conn, await claimedOne(conn, ref.project), [{ type: 'text', node: 'a', text: 'on' }]);
  expect(texts(await events(ref)).at(-1)).toBe('on');
});

test('a writer sends first text of a node at once, joins what it says after that, and keeps nodes apart', async () => {
  const ref = await running();
  const writer = createEventWriter(store.conn, ref, 1);
  writer.text('one', '>');
  for (const word of ['a', 'b', 'c']) {
    writer.text('one', word);
    writer.text('two', word.toUpperCase());
  }
  const seen = await pollUntil(
    'the text',
    async () => {
      const list = await events(ref, '1');
      return list.length > 4 && list;
    },
    {
      timeoutMs: 20_000,
      everyMs: 5,
    },
  );
  expect(texts(seen)).toEqual(['>', 'a', 'A', 'bc', 'BC']);
  writer.text('one', 'd');
  await writer.flush();
  expect(texts(await events(ref, '6'))).toEqual(['d']);
});

test('the first text of an answer does not wait for a transcript that changed before, or for other text', async () => {
  const ref = await running();
  const writer = createEventWriter(store.conn, ref, 1);
  writer.text('agent', 'I check', 'run/agent/m1');
  writer.text('agent', ' it up', 'run/agent/m1');
  writer.transcript('agent', [{ role: 'User', text: 'Hello' }]);
  writer.text('agent', 'It is', 'run/agent/m2');
  writer.text('agent', ' there', 'run/agent/m2');
  await writer.flush();
  expect(texts(await events(ref, '1'))).toEqual(['I check', ' it up', 'It is', ' there']);
});

test('the text of another request to a model has another number, and that of another claim another delivery', async () => {
  const ref = await running();
  const first = createEventWriter(store.conn, ref, 7);
  first.text('agent', 'a', 'run/agent/1');
  first.text('agent', 'b', 'run/agent/1');
  first.text('agent', 'c', 'run/agent/2');
  await first.flush();
  const second = createEventWriter(store.conn, ref, 8);
  second.text('agent', 'd', 'run/agent/2');
  await second.flush();
  const sources = (await events(ref, '1')).map((event) =>
    event.type === 'text' ? [event.text, event.call, event.delivery] : event.type,
  );
  expect(sources).toEqual([
    ['a', 1, 7],
    ['b', 1, 7],
    ['c', 2, 7],
    ['d', 1, 8],
  ]);
});

test('text of a request that is repeated is void, and that of the answer before it stays', async () => {
  const ref = await running();
  const writer = createEventWriter(store.conn, ref, 1);
  writer.beginText('a', 1);
  writer.text('a', 'first');
  writer.beginText('a', 3);
  writer.text('a', 'half');
  writer.beginText('a', 3);
  writer.text('a', 'who');
  writer.text('a', 'le');
  await writer.flush();
  expect(await events(ref, '1')).toMatchObject([
    { text: 'first', position: 1, reset: true },
    { text: 'whole', position: 3, reset: true },
  ]);
  writer.text('a', ' text');
  await writer.flush();
  expect((await events(ref, '3'))[0]).not.toHaveProperty('reset');
});

test('changes of one entry of a transcript within 50 ms are one event, and a new writer sends a snapshot', async () => {
  const ref = await running();
  const user = { role: 'User', text: 'Hello' } as const;
  const call = { role: 'Tool', text: '', tool: 'find', arguments: '{}' } as const;
  const writer = createEventWriter(store.conn, ref, 1);
  writer.transcript('a', [user]);
  writer.transcript('a', [user, call]);
  writer.transcript('a', [user, { ...call, startedAt: 1 }]);
  writer.transcript('a', [user, { ...call, startedAt: 1, endedAt: 2, text: 'found' }]);
  await writer.flush();
  const entries = async (after: string) =>
    (await events(ref, after)).map((event) =>
      event.type === 'transcript' ? [event.position, event.entry.text, event.reset] : event,
    );
  const all = [
    [0, 'Hello', true],
    [1, 'found', undefined],
  ];
  expect(await entries('1')).toEqual(all);
  writer.transcript('a', [user, { ...call, startedAt: 1, endedAt: 2, text: 'found' }]);
  await writer.flush();
  expect(await entries('3')).toEqual([]);
  const next = createEventWriter(store.conn, ref, 1);
  next.transcript('a', [user, { ...call, startedAt: 1, endedAt: 2, text: 'found' }]);
  await next.flush();
  expect(await entries('3')).toEqual(all);
});

test('an answer that was sent before is not sent again with the entries that follow it', async () => {
  const ref = await running();
  const writer = createEventWriter(store.conn, ref, 1);
  const answer = () => ({ role: 'Assistant', text: '', usage: { inputTokens: 1, outputTokens: 2 } }) as const;
  const call = { role: 'Tool', text: '', tool: 'find', arguments: '{}' } as const;
  writer.transcript('a', [answer()]);
  await writer.flush();
  writer.transcript('a', [answer(), call]);
  await writer.flush();
  expect((await events(ref, '1')).map((event) => event.type === 'transcript' && event.position)).toEqual([
    0, 1,
  ]);
});

test('a writer whose run is gone, or whose store is away, does no harm', async () => {
  const { conn } = store;
  const ref = await running();
  await advance(conn, ref, { end: { phase: 'Succeeded' } });
  const writer = createEventWriter(conn, ref, 1);
  writer.text('a', 'late');
  await writer.flush();
  expect(texts(await events(ref))).toEqual([]);
  for await (const event of followEvents(conn, ref.project, ref.run, { signal: never() }))
    expect(event.type).toBe('run');
});

test('when the quota is used up text is left out, and the run goes on', async () => {
  const { conn } = store;
  const ref = await running(3_000);
  await advance(conn, ref, { checkpoints: [succeededNode('a', 'x'.repeat(5_000))] });
  expect(await appendEvents(conn, ref, [{ type: 'text', node: 'b', text: 'x' }])).toMatchObject({
    outcome: 'done',
  });
  expect(texts(await events(ref))).toEqual([]);
  expect(await advance(conn, ref, { end: { phase: 'Succeeded' } })).toMatchObject({ outcome: 'done' });
});
