/**
 * Codes on their way from a browser to the operator that leads: what is none ends nothing, and what can be
 * tried again is.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../kube/clock.ts';
import { exchangeCodes } from '../../../operator/oauth/codes.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { seal } from '../../../store/oauth/seal.ts';
import { connectKeys } from '../../../store/oauth/keys.ts';
import { storeCode, readKey, SEALED_FOR, type Code } from '../../../store/oauth/states.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

const WITHIN = { timeout: 20_000 };
const CODE: Code = {
  namespace: 'shop',
  name: 'mailbox',
  uid: '1',
  generation: 1,
  user: 'ana',
  connection: 'c',
  redirectURI: 'https://hooks.example.com/oauth/callback',
  scopes: [],
  mustNameIssuer: false,
  code: 'the code',
  verifier: 'v',
  state: 's',
};

const log = createCollectedLog();
const ending = new AbortController();
const exchanged: string[] = [];
/** How often it cannot be asked for the token, and not because of its turn. */
let failures = 0;
let store: TestStore;
let keeping: Promise<void>;

beforeAll(async () => {
  store = await startRunStore();
  const exchange = ({ name }: Code): Promise<void> => {
    exchanged.push(name);
    failures -= 1;
    return failures >= 0 ? Promise.reject(new Error('the API server is away')) : Promise.resolve();
  };
  const options = { conn: store.conn, connections: { exchange }, log, clock: systemClock };
  keeping = exchangeCodes(options, ending.signal);
});
afterAll(async () => {
  ending.abort();
  await keeping;
  await store?.stop();
});

/** Seals it as a gateway does. */
async function sealed(text: string): Promise<string> {
  const key = await pollUntil('a key', async () => (await readKey(store.conn)) ?? false, {
    timeoutMs: 20_000,
  });
  if (isUnavailable(key)) throw new Error('the run store is away');
  return seal(key, text, SEALED_FOR);
}

/** Brings it as a gateway does. */
async function bring(text: string): Promise<void> {
  await storeCode(store.conn, await sealed(text));
}

test.each([
  ['nothing', ''],
  ['broken JSON', '{'],
  ['null', 'null'],
  ['an empty object', '{}'],
  ['a code of no namespace', JSON.stringify({ ...CODE, namespace: 7 })],
])('what is no code is told, and those behind it are taken: %s', async (what, text) => {
  const before = log.messages('warn').length;
  const name = `behind ${what}`;
  await bring(text);
  await bring(JSON.stringify({ ...CODE, name }));
  await expect.poll(() => exchanged, WITHIN).toContain(name);
  expect(log.messages('warn')).toHaveLength(before + 1);
});

test('a code is tried again while nobody could be asked, and then no more', async () => {
  failures = 2;
  await bring(JSON.stringify({ ...CODE, name: 'late' }));
  await expect.poll(() => exchanged.filter((name) => name === 'late'), WITHIN).toHaveLength(3);
  await bring(JSON.stringify({ ...CODE, name: 'next' }));
  await expect.poll(() => exchanged, WITHIN).toContain('next');
  expect(exchanged.filter((name) => name === 'late')).toHaveLength(3);
  expect(log.messages('error')).toEqual([]);
});

test('a code is taken as soon as it is brought, and within seconds where the message is lost', async () => {
  const entry = `${Date.now()} ${await sealed(JSON.stringify({ ...CODE, name: 'unannounced' }))}`;
  await store.conn.command('rpush', connectKeys.codes, entry);
  await expect.poll(() => exchanged, WITHIN).toContain('unannounced');
  // The codes have just been read, and are not for five seconds.
  const took = stopwatch();
  await bring(JSON.stringify({ ...CODE, name: 'announced' }));
  await expect.poll(() => exchanged, { ...WITHIN, interval: 10 }).toContain('announced');
  expect(took()).toBeLessThan(1_000);
});
