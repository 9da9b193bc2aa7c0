/**
 * What cookies of the console are sealed with: keys in a real run store, two replicas, and a clock that tests
 * move.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrigin } from '../../../gateway/console/session/origin.ts';
import {
  createSessions,
  newSessionId,
  type Session,
  type Sessions,
} from '../../../gateway/console/session/sessions.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { createManualClock, type ManualClock } from '../../support/time/manualClock.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const KEYS = 'wl:console:keys';

let redis: TestRedis;
let conn: RunStoreConnection;

beforeAll(async () => {
  redis = await startRedis({ appendfsync: 'no' });
  conn = connectRunStore({ url: redis.url, name: 'test' });
  await conn.ready();
});
afterAll(async () => {
  await conn?.close();
  await redis?.stop();
});

type Harness = { clock: ManualClock; first: Sessions; second: Sessions; revoked: string[] };

async function startHarness(idleMs = 30 * DAY): Promise<Harness> {
  await conn.command('unlink', KEYS);
  const clock = createManualClock();
  const revoked: string[] = [];
  const options = { conn, clock, origin: createOrigin(undefined), idleMs };
  const revoke = (token: string) => void revoked.push(token);
  return { clock, revoked, first: createSessions({ ...options, revoke }), second: createSessions(options) };
}

function sessionAt({ clock }: Harness, over: Partial<Session> = {}): Session {
  const ends = clock.date().getTime() + 7 * DAY;
  return {
    id: newSessionId(),
    token: 'a token',
    tokenEnds: ends,
    user: { name: 'ada', groups: [] },
    ends,
    ...over,
  };
}

const cookieOf = (value: string | undefined): IncomingHttpHeaders => ({
  cookie: `windlass_console=${value}`,
});
const outcomes = async ({ first, second }: Harness, headers: IncomingHttpHeaders) =>
  Promise.all([first, second].map(async (sessions) => (await sessions.open(headers)).outcome));
const storedPeriods = async () =>
  Object.keys((await conn.command('hgetall', KEYS)) as Record<string, string>);

test('each day has its own key, the same at all replicas', async () => {
  const it = await startHarness();
  const sealed: (string | undefined)[] = [];
  for (let day = 0; day < 3; day += 1) {
    const values = await Promise.all([it.first, it.second].map((sessions) => sessions.seal(sessionAt(it))));
    for (const value of values) expect(await outcomes(it, cookieOf(value))).toEqual(['session', 'session']);
    sealed.push(...values);
    await it.clock.advance(DAY);
  }
  expect(new Set(sealed.map((value) => value?.split('-')[0])).size).toBe(3);
  expect(await storedPeriods()).toHaveLength(3);
});

test('after a rotation old sessions continue until they end, and their key is removed later', async () => {
  const it = await startHarness();
  // For ever, as far as the session itself says: its key alone ends it.
  const old = cookieOf(await it.first.seal(sessionAt(it, { ends: it.clock.date().getTime() + 100 * DAY })));
  const week = cookieOf(await it.first.seal(sessionAt(it)));
  await it.clock.advance(7 * DAY - MINUTE);
  expect([await outcomes(it, old), await outcomes(it, week)]).toEqual([
    ['session', 'session'],
    ['session', 'session'],
  ]);
  await it.clock.advance(MINUTE);
  expect(await outcomes(it, week)).toEqual(['none', 'none']);
  await it.clock.advance(2 * DAY);
  expect(await outcomes(it, old)).toEqual(['none', 'none']);
  const [oldest] = await storedPeriods();
  await it.first.seal(sessionAt(it));
  expect(await storedPeriods()).not.toContain(oldest);
});

test('a cookie with an expired key is invalid, and causes no request to the run store', async () => {
  const it = await startHarness();
  const value = (await it.first.seal(sessionAt(it))) ?? '';
  const [period = '', ...rest] = value.split('-');
  for (const other of [0, Number(period) - 20, Number(period) + 2, 9_999_999])
    expect(await outcomes(it, cookieOf([other, ...rest].join('-')))).toEqual(['none', 'none']);
  expect(await outcomes(it, cookieOf(rest.join('-')))).toEqual(['none', 'none']);
  expect(await outcomes(it, cookieOf([Number(period) + 1, ...rest].join('-')))).toEqual(['none', 'none']);
});

test('an invalid key is not used, and a removed key ends its sessions', async () => {
  const it = await startHarness();
  const value = cookieOf(await it.first.seal(sessionAt(it)));
  await conn.command('unlink', KEYS);
  await it.clock.advance(30_000);
  const next = await it.second.seal(sessionAt(it));
  expect(await outcomes(it, value)).toEqual(['none', 'none']);
  expect(await outcomes(it, cookieOf(next))).toEqual(['session', 'session']);
  for (const name of await storedPeriods()) await conn.command('hset', KEYS, name, 'short');
  await it.clock.advance(30_000);
  expect(await it.first.seal(sessionAt(it))).toBeUndefined();
});

test('an unused session ends after the idle timeout at every replica, and a used one continues', async () => {
  const it = await startHarness(60 * MINUTE);
  const unused = cookieOf(await it.first.seal(sessionAt(it)));
  let used = await it.first.seal(sessionAt(it));
  for (let minutes = 0; minutes < 180; minutes += 10) {
    await it.clock.advance(10 * MINUTE);
    const replica = minutes % 20 === 0 ? it.second : it.first;
    const opened = await replica.open(cookieOf(used));
    if (opened.outcome !== 'session') throw new Error(`${opened.outcome} after ${minutes} minutes`);
    if (opened.isOld) used = await replica.seal(opened.session);
    expect((await outcomes(it, unused))[0]).toBe(minutes + 10 < 60 ? 'session' : 'none');
  }
  await it.clock.advance(60 * MINUTE);
  expect(await outcomes(it, cookieOf(used))).toEqual(['none', 'none']);
});

test('a cookie is sealed again after five minutes of use, but not shortly before its token is renewed', async () => {
  const it = await startHarness(60 * MINUTE);
  const isOld = async (value: string | undefined) => {
    const opened = await it.first.open(cookieOf(value));
    return opened.outcome === 'session' && opened.isOld;
  };
  const value = await it.first.seal(sessionAt(it));
  const tokenEnds = it.clock.date().getTime() + 6 * MINUTE;
  const renewed = await it.first.seal(sessionAt(it, { refresh: 'refresh', tokenEnds }));
  await it.clock.advance(5 * MINUTE - 1);
  expect([await isOld(value), await isOld(renewed)]).toEqual([false, false]);
  await it.clock.advance(1);
  expect([await isOld(value), await isOld(renewed)]).toEqual([true, false]);
});

test('signing out revokes the refresh token of that session only', async () => {
  const it = await startHarness();
  const session = sessionAt(it, { refresh: 'refresh' });
  await it.first.open(cookieOf(await it.first.seal(session)));
  expect(it.revoked).toEqual([]);
  expect(await it.first.signOut(session)).toBe(true);
  await it.first.signOut(sessionAt(it));
  expect(it.revoked).toEqual(['refresh']);
});
