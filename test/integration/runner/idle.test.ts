/** An idle runner sends its pulse and nothing else, and finds by it all that messages announce. */
import { afterAll, afterEach, expect, test } from 'vitest';
import { startHeartbeats } from '../../../runs/heartbeat.ts';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { keysOf } from '../../../store/keys.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { CHECKS } from '../../../store/requests/checks.ts';
import type { Runner } from '../../../runner/runner.ts';
import { openTestProject, startTestRunner, type TestProject } from '../../support/runner/runnerProject.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { startedRun } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const redis = await startRedis();
const conn = connectRunStore({ url: redis.url, name: 'test' });
await conn.ready();
let runner: Runner;
afterEach(() => runner.stop(0));
afterAll(async () => {
  await conn.close();
  await redis.stop();
});

const EVERY_MS = 50;
const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const wait = { id: 'pause', wait: { duration: '1s' } };

function startIdle(
  project: Pick<TestProject, 'uid'>,
  ofRunner: RunStoreConnection,
  aloneEveryMs = EVERY_MS,
): void {
  const settings = { url: redis.url, project: project.uid, runner: 'runner-1' };
  const heartbeats = startHeartbeats({ ...settings, everyMs: EVERY_MS, aloneEveryMs });
  runner = startTestRunner(ofRunner, project.uid, { heartbeats });
}

/** A connection whose messages are all lost, and the calls that it has sent. */
function silent(): { conn: RunStoreConnection; calls: string[][] } {
  const calls: string[][] = [];
  const subscriber = {
    subscribe: () => Promise.resolve({ end: () => undefined }),
    close: () => Promise.resolve(),
  };
  return {
    calls,
    conn: {
      ...conn,
      subscriber: () => subscriber,
      command: (name, ...args) => {
        calls.push([name, String(args[0])]);
        return conn.command(name, ...args);
      },
      script: (script, keys, args) => {
        calls.push(['script', ...keys]);
        return conn.script(script, keys, args);
      },
    },
  };
}

const heartbeatOf = async (project: Pick<TestProject, 'uid'>): Promise<number> =>
  Number(await conn.command('hget', keysOf(project.uid).heartbeats, 'runner-1'));

async function beatTimes(project: TestProject, times: number): Promise<void> {
  const until = (await heartbeatOf(project)) + times;
  const hasBeaten = async () => (await heartbeatOf(project)) >= until;
  await pollUntil('so many heartbeats', hasBeaten, { timeoutMs: 30_000, everyMs: 10 });
}

test('an idle runner sends nothing but its heartbeat, also after it has executed a run', async () => {
  const project = await openTestProject(conn);
  const spied = silent();
  startIdle(project, spied.conn);
  const revision = await project.deploy([trigger, { id: 'pause', wait: { duration: '1ms' } }]);
  await project.ended(await project.send(revision, {}));
  // What loops read for the last time after a run, in intervals of up to ten seconds, is no polling.
  let before = -1;
  const isQuiet = async () => {
    await beatTimes(project, 30);
    const isSame = spied.calls.length === before;
    before = spied.calls.length;
    return isSame;
  };
  expect(await pollUntil('a quiet runner', isQuiet, { timeoutMs: 60_000, everyMs: 1 })).toBe(true);
});

test('runs that become ready, end their wait or are cancelled are found where every message is lost', async () => {
  const project = await openTestProject(conn);
  startIdle(project, silent().conn);
  const revision = await project.deploy([trigger, wait]);
  const run = await project.send(revision, {});
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  const long = await project.deploy([trigger, { id: 'pause', wait: { duration: '1h' } }]);
  const parked = await project.send(long, {});
  await project.until(parked, ({ phase }) => phase === 'Waiting');
  // As a parent that has ended leaves it: no runner holds the run, and one of them shall end it.
  await conn.command('sadd', keysOf(project.uid).cancels, parked);
  expect(await project.ended(parked)).toMatchObject({ phase: 'Cancelled' });
});

test('a request of the operator is answered where every message is lost', async () => {
  const project = await openTestProject(conn);
  startIdle(project, silent().conn);
  await beatTimes(project, 2);
  const spec = { smtp: { host: '127.0.0.1', port: 1, tls: 'None', from: 'a@example.com' } } as const;
  await CHECKS.ask(conn, project.uid, 'uid', { key: 'k', name: 'absent', spec, failures: 0 });
  const answered = async () => {
    const seen = await CHECKS.read(conn, project.uid, 'uid');
    return 'answer' in seen && seen.answer?.key === 'k';
  };
  expect(await pollUntil('an answer', answered, { timeoutMs: 20_000, everyMs: 20 })).toBe(true);
});

test('a parked run that comes to own the memory for which it waits is made ready at once', async () => {
  const ref = await startedRun(conn);
  const { parked, signaled } = keysOf(ref.project);
  await advance(conn, ref, { parkMs: 3_600_000 });
  const spied = silent();
  const ofRunner = { ...spied.conn, subscriber: () => conn.subscriber() };
  const own = { uid: ref.project };
  startIdle(own, ofRunner, 3_600_000);
  // The next pulse, which would find the run, comes in an hour.
  const isIdle = async () =>
    (await heartbeatOf(own)) > 0 && spied.calls.some((keys) => keys.includes(parked));
  await pollUntil('the first heartbeat', isIdle, { timeoutMs: 20_000, everyMs: 10 });
  // As the end of the run that owned the memory leaves it.
  const [entry] = (await conn.command('zrange', parked, 0, -1)) as string[];
  await conn.command('zadd', parked, 'XX', 0, entry ?? '');
  await conn.command('publish', signaled, ref.run);
  const isWoken = async () => (await conn.command('zcard', parked)) === 0;
  expect(await pollUntil('the run to be ready', isWoken, { timeoutMs: 10_000, everyMs: 10 })).toBe(true);
});

test('a runner that is alone shows at once that it is alive when another one begins, and more often from then on', async () => {
  const project = await openTestProject(conn);
  startIdle(project, conn, 3_600_000);
  await pollUntil('the first heartbeat', async () => (await heartbeatOf(project)) > 0, {
    timeoutMs: 20_000,
    everyMs: 10,
  });
  const other = startHeartbeats({
    url: redis.url,
    project: project.uid,
    runner: 'runner-2',
    everyMs: EVERY_MS,
  });
  await beatTimes(project, 10);
  await other.stop();
  const run = await project.send(await project.deploy([trigger, wait]), {});
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(await cancelRun(conn, project.uid, run)).toMatchObject({ outcome: 'ended' });
});
