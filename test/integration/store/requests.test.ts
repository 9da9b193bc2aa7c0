/**
 * Checks of credentials between operator and runners: each is answered once, by whoever is there, and about
 * what is asked now.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CHECKS, type TakenCheck } from '../../../store/requests/checks.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

const works = { works: true, message: 'It works.' } as const;
const rejected = { works: false, reason: 'Rejected', message: 'No.' } as const;
const spec = { smtp: { host: 'mail.example.com', from: 'a@example.com' } };

let store: TestStore;
let project: string;

beforeAll(async () => {
  store = await startRunStore();
});
afterAll(() => store?.stop());
beforeEach(async () => {
  project = await newProject(store.conn);
});

const ask = (uid = 'one', key = 'first', failures = 0) =>
  CHECKS.ask(store.conn, project, uid, { key, name: uid, spec, failures });
const answer = (taken: TakenCheck, result: typeof works | typeof rejected = works) =>
  CHECKS.answer(store.conn, project, taken, result);

async function take(most = 10): Promise<TakenCheck[]> {
  const taken = await CHECKS.take(store.conn, project, most);
  if (isUnavailable(taken)) throw new Error('the run store is away');
  return taken;
}

async function takeOne(): Promise<TakenCheck> {
  const [taken] = await take();
  if (!taken) throw new Error('nothing is asked');
  return taken;
}

async function read(uid = 'one') {
  const seen = await CHECKS.read(store.conn, project, uid);
  if (isUnavailable(seen)) throw new Error('the run store is away');
  return seen;
}

test('what is asked is taken by one runner, with all that it must know, and answered for the operator', async () => {
  await ask();
  expect((await read()).waiting).toMatchObject({ key: 'first' });
  const taken = await takeOne();
  expect(taken).toEqual({ uid: 'one', request: { key: 'first', name: 'one', spec, failures: 0 } });
  expect(await take()).toEqual([]);
  expect(await answer(taken)).toEqual({ outcome: 'done' });
  const { now, waiting, answer: said } = await read();
  expect(waiting).toBeUndefined();
  expect(said).toMatchObject({ key: 'first', failures: 0, result: works });
  expect(now - (said?.at ?? 0)).toBeLessThan(5_000);
});

test('failures in a row are counted, and a success resets the count', async () => {
  await ask('one', 'first', 3);
  await answer(await takeOne(), rejected);
  expect((await read()).answer).toMatchObject({ failures: 4, result: rejected });
  await ask('one', 'first', 4);
  await answer(await takeOne());
  expect((await read()).answer).toMatchObject({ failures: 0 });
});

test('an answer to what was asked before is worth nothing', async () => {
  await ask();
  const old = await takeOne();
  await ask('one', 'second');
  expect(await answer(old)).toEqual({ outcome: 'superseded' });
  expect((await read()).answer).toBeUndefined();
  const taken = await takeOne();
  expect(taken.request.key).toBe('second');
  expect(await answer(taken)).toEqual({ outcome: 'done' });
});

const TRUE_ANSWER = { key: 'first', failures: 1, result: rejected };

test.each([
  ['no JSON', '{'],
  ['nothing', 'null'],
  ['without a result', { key: 'first', failures: 1 }],
  ['with failures that cannot be counted', { ...TRUE_ANSWER, failures: 'many' }],
  ['of a reason that there is not', { ...TRUE_ANSWER, result: { ...rejected, reason: 'Complete' } }],
  ['with a message that is no text', { ...TRUE_ANSWER, result: { works: true, message: {} } }],
  ['that asks to wait for no number', { ...TRUE_ANSWER, result: { ...rejected, retryAfterMs: 'long' } }],
  ['with more than a status holds', { ...TRUE_ANSWER, result: { ...works, account: 'a'.repeat(513) } }],
])('what a holder of the pool account writes %s is no answer', async (_what, forged) => {
  await ask();
  const text = typeof forged === 'string' ? forged : JSON.stringify(forged);
  const { check } = keysOf(project);
  await store.conn.command('hset', check('one'), 'answer', text, 'answered', 'now', 'asked', 'never');
  const { waiting, answer: said } = await read();
  expect([waiting, said]).toEqual([{ key: 'first', askedAt: 0 }, undefined]);
});

test('what a runner took that is gone another takes up', async () => {
  await ask();
  await takeOne();
  const { checks } = keysOf(project);
  const [, until] = (await store.conn.command('zrange', checks, 0, -1, 'withscores')) as string[];
  expect(Number(until) - (await read()).now).toBeGreaterThan(20_000);
  // As if that time had passed.
  await store.conn.command('zadd', checks, 1, 'one');
  expect(await answer(await takeOne())).toEqual({ outcome: 'done' });
});

test('a runner takes no more than it has room for', async () => {
  for (const uid of ['a', 'b', 'c']) await ask(uid);
  expect(await take(0)).toEqual([]);
  expect(await take(2)).toHaveLength(2);
  expect(await take(2)).toHaveLength(1);
});

test('nothing is stored for a project that is closed, and what is stored ends by itself unless the operator reads it', async () => {
  await ask();
  await answer(await takeOne());
  const { check, meta } = keysOf(project);
  const left = Number(await store.conn.command('ttl', check('one')));
  expect(left / 86_400).toBeCloseTo(3, 1);
  const soon = 3_600;
  await store.conn.command('expire', check('one'), soon);
  expect((await read()).answer).toMatchObject({ key: 'first' });
  expect(Number(await store.conn.command('ttl', check('one')))).toBeGreaterThan(soon);
  await ask();
  const taken = await takeOne();
  await store.conn.command('unlink', meta);
  const closed = { outcome: 'unavailable', why: 'no-store' };
  expect(await ask('two')).toMatchObject(closed);
  expect(await answer(taken)).toMatchObject(closed);
  expect(await store.conn.command('exists', check('two'))).toBe(0);
});
