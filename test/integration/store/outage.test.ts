/**
 * The server is killed, frozen, cut off: nothing accepted is missing, nothing is sent twice, every call is
 * answered.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { claimRuns, watchReady } from '../../../runs/claim.ts';
import { connectRunStore, orUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { readCounts, readRun } from '../../../runs/read.ts';
import { defineScript } from '../../../store/script.ts';
import { createReplyWaiter } from '../../../runs/reply.ts';
import { serverIdentities } from '../../../store/serverIdentity.ts';
import { submit } from '../../../runs/submit.ts';
import { createPollingPace } from '../../../runs/pace.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { startTcpProxy, type TcpProxy } from '../../support/network/tcpProxy.ts';
import { pollUntil } from '../../support/time/poll.ts';
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
  startedRun,
} from '../../support/runStore/runStore.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

let store: TestStore;
let proxy: TcpProxy;
let far: RunStoreConnection;
beforeEach(async () => {
  store = await startRunStore();
  proxy = await startTcpProxy(store.redis.port);
  far = connectRunStore({ url: `redis://127.0.0.1:${proxy.port}`, name: 'far' });
  await far.ready();
});
afterEach(async () => {
  await far.close();
  await proxy.close();
  await store.stop();
});

const unavailable = { outcome: 'unavailable', why: 'connection' };

test('a server that is killed has everything that it accepted, once, when it is back', async () => {
  const { conn, redis } = store;
  const project = await newProject(conn);
  const acceptedRuns: string[] = [];
  const stop = new AbortController();
  const client = async (name: string) => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      const outcome = await submit(conn, submissionOf(project, { dedupeKey: `${name}-${count}` }));
      if (outcome.outcome === 'accepted') acceptedRuns.push(outcome.run);
    }
  };
  const clients = Array.from({ length: 8 }, (_, index) => client(`client-${index}`));
  for (const kills of [1, 2]) {
    await pollUntil('some events', () => acceptedRuns.length > 300 * kills, {
      timeoutMs: 10_000,
      everyMs: 5,
    });
    await redis.restart();
    await conn.ready();
  }
  stop.abort();
  await Promise.all(clients);
  const states = await Promise.all(acceptedRuns.map((run) => stateOf(conn, project, run)));
  expect(new Set(acceptedRuns).size).toBe(acceptedRuns.length);
  expect(states.every(({ phase }) => phase === 'Pending')).toBe(true);

  const ready = new Set<string>();
  for (
    let batch = await claimed(conn, project, 500);
    batch.length > 0;
    batch = await claimed(conn, project, 500)
  )
    batch.forEach(({ state }) => ready.add(state.run));
  expect(acceptedRuns.filter((run) => !ready.has(run))).toEqual([]);
});

test('checkpoints that were answered are there after a kill, and the claim still holds', async () => {
  const { conn, redis } = store;
  const ref = await startedRun(conn);
  const { project } = ref;
  expect(await advance(conn, ref, { checkpoints: [succeededNode('a')] })).toMatchObject({ outcome: 'done' });
  await redis.kill();
  expect(await advance(conn, ref, { checkpoints: [succeededNode('b')] })).toMatchObject(unavailable);
  await redis.restart();
  await conn.ready();
  expect((await stateOf(conn, project, ref.run)).nodes).toEqual([succeededNode('a')]);
  expect(await advance(conn, ref, { end: { phase: 'Succeeded' } })).toMatchObject({ outcome: 'done' });
});

test('connections that break off under way never make a run twice', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const total = 2_000;
  let sent = 0;
  let acceptedCount = 0;
  const client = async () => {
    while (sent < total) {
      if (!far.healthy()) await far.ready();
      sent += 1;
      const outcome = await submit(far, submissionOf(project));
      if (outcome.outcome === 'accepted') acceptedCount += 1;
    }
  };
  const drops = setInterval(() => proxy.drop(), 40);
  await Promise.all(Array.from({ length: 16 }, client));
  clearInterval(drops);
  const counts = await readCounts(conn, project, 'uid-orders');
  const active = 'active' in counts ? counts.active : 0;
  expect(acceptedCount).toBeGreaterThan(0);
  expect(active).toBeGreaterThanOrEqual(acceptedCount);
  expect(active).toBeLessThanOrEqual(sent);
});

test('a server that is frozen is reported within two seconds, by every call', async () => {
  const { conn, redis } = store;
  const ref = await startedRun(conn);
  const { project } = ref;
  redis.freeze();
  const timed = async (call: () => Promise<unknown>) => {
    const took = stopwatch();
    return { outcome: await call(), ms: took() };
  };
  for (const round of [1, 2]) {
    const answers = await Promise.all([
      timed(() => submit(conn, submissionOf(project))),
      timed(() => claimRuns(conn, { project, runner: 'r', max: 1 })),
      timed(() => advance(conn, ref, { end: { phase: 'Succeeded' } })),
      timed(() => readRun(conn, project, ref.run)),
    ]);
    for (const { outcome, ms } of answers) {
      expect(outcome).toMatchObject(unavailable);
      expect(ms, `round ${round}`).toBeLessThan(2_000);
    }
  }
  redis.thaw();
  await conn.ready(AbortSignal.timeout(5_000));
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test('a mark whose answer is read late, since this process was delayed, begins nothing until the store has said it again', async () => {
  const { conn, redis } = store;
  const ref = await startedRun(conn);
  const { project } = ref;
  const { sequence } = await stateOf(conn, project, ref.run);
  const starts = [{ id: 'mail', attempt: 1, atMostOnce: true, at: Date.now() }];
  const mark = { starts, follows: sequence };
  redis.freeze();
  const late = advance(conn, ref, mark);
  setImmediate(() => setTimeout(() => process.nextTick(holdUp, 2_000, () => redis.thaw())));
  expect(await late).toMatchObject(unavailable);
  expect(await advance(conn, ref, mark)).toEqual({ outcome: 'done', cancelRequested: false });
  expect((await stateOf(conn, project, ref.run)).sequence).toBe(sequence + 1);
});

/**
 * Called in a tick after the timers, it holds up the loop before it reads, so that the answer comes before
 * the client's timeout.
 */
function holdUp(ms: number, begin: () => void): void {
  const end = performance.now() + ms;
  begin();
  while (performance.now() < end);
}

test('a connection that breaks off is told of as lost, and one that is closed is not', async () => {
  const logs = [createCollectedLog(), createCollectedLog()] as const;
  const url = `redis://127.0.0.1:${proxy.port}`;
  const [kept, closed] = logs.map((log) => connectRunStore({ url, name: 'told', log }));
  await Promise.all([kept?.ready(), closed?.ready()]);
  await closed?.close();
  proxy.swallow(true);
  proxy.drop();
  const told = () => logs[0].messages('warn').includes('run store: connection lost');
  await pollUntil('the loss being told', told, { timeoutMs: 10_000 });
  expect(logs[1].messages()).toEqual(['run store: connected']);
  await kept?.close();
});

test('a connection on which nothing comes any more is replaced', async () => {
  const project = await newProject(store.conn);
  proxy.swallow(true);
  expect(await submit(far, submissionOf(project))).toMatchObject(unavailable);
  proxy.swallow(false);
  const outcome = await pollUntil(
    'an accepted event',
    async () => {
      const now = await submit(far, submissionOf(project));
      return now.outcome === 'accepted' && now;
    },
    { timeoutMs: 10_000 },
  );
  expect(outcome.duplicate).toBe(false);
});

test('a step that the network delayed until the run had gone on changes nothing', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  const { project } = ref;
  const { sequence } = await stateOf(conn, project, ref.run);
  // The server knows the script by now, so that the step is one call.
  await advance(conn, ref, { starts: [], follows: sequence - 1 });
  const begin = {
    starts: [{ id: 'mail', attempt: 1, atMostOnce: true, at: Date.now() }],
    follows: sequence,
  };
  const deliver = proxy.hold();
  expect(await advance(far, ref, begin)).toMatchObject(unavailable);
  expect(await advance(conn, ref, begin)).toMatchObject({ outcome: 'done' });
  const checkpoint = { checkpoints: [succeededNode('mail')], follows: sequence + 1 };
  expect(await advance(conn, ref, checkpoint)).toMatchObject({ outcome: 'done' });
  const calls = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(String(await conn.command('info', 'commandstats')))?.[1]);
  const before = await calls();
  deliver();
  await pollUntil('the late step', async () => (await calls()) > before, { timeoutMs: 20_000, everyMs: 10 });
  expect((await stateOf(conn, project, ref.run)).nodes).toEqual([succeededNode('mail')]);
});

test('a server that was started again has the scripts when they are needed', async () => {
  const project = await newProject(store.conn);
  await store.conn.command('script', 'flush');
  expect(await submit(store.conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test('a waiter gets a reply that was given while its connection was away', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  const ref = await claimedOne(conn, project);
  const waiter = createReplyWaiter(far);
  const waiting = waiter.wait(project, run, { timeoutMs: 20_000, signal: new AbortController().signal });
  await pollUntil(
    'the subscription',
    async () =>
      ((await conn.command('pubsub', 'channels', '*')) as string[]).some((name) => name.endsWith(run)),
    { timeoutMs: 20_000, everyMs: 10 },
  );
  proxy.swallow(true);
  const reply = { status: 200, headers: {}, body: 'x', contentType: 'text/plain' };
  await advance(conn, ref, { reply });
  proxy.drop();
  proxy.swallow(false);
  expect(await waiting).toEqual({ kind: 'reply', reply });
  waiter.close();
});

test('work that comes while the wake-up connection is away is found within two seconds', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const pace = createPollingPace();
  const watching = watchReady(far, project, pace.raise);
  await pace.wait({ busyMs: 1_000 });
  proxy.drop();
  const run = await accepted(conn, submissionOf(project));
  const took = stopwatch();
  const found = await pollUntil(
    'the run',
    async () => {
      await pace.wait({ busyMs: 1_000 });
      const outcome = await claimRuns(far, { project, runner: 'r', max: 1 });
      return outcome.outcome === 'claimed' && outcome.claims[0];
    },
    { timeoutMs: 30_000, everyMs: 1 },
  );
  watching.end();
  expect(found.state.run).toBe(run);
  expect(took()).toBeLessThan(2_000);
});

test('a primary that was demoted is left at once, every call until then is an outage, and then it counts as another', async () => {
  const { conn, redis } = store;
  const project = await newProject(conn);
  const identity = await serverIdentities(conn);
  const id = await far.command('client', 'id');
  await conn.command('replicaof', '127.0.0.1', redis.port + 1);
  expect(await submit(far, submissionOf(project))).toMatchObject(unavailable);
  await conn.command('replicaof', 'no', 'one');
  await far.ready();
  expect(await far.command('client', 'id')).not.toBe(id);
  expect(identity).toEqual(new Map([['', expect.stringMatching(/^\w{40} \w{40}$/)]]));
  expect(await serverIdentities(conn)).not.toEqual(identity);
  expect(await submit(far, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test.each([
  'CLUSTERDOWN Hash slot not served',
  'MOVED 3999 127.0.0.1:6381',
  'ASK 3999 127.0.0.1:6381',
  'UNBLOCKED force unblock',
])('an answer that passes is an outage and no defect: %s', async (answer) => {
  const refusing = defineScript({ keys: [], body: `return redis.error_reply('${answer}')` });
  expect(await orUnavailable(() => store.conn.script(refusing, [], []))).toMatchObject(unavailable);
});
