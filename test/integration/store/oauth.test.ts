/**
 * What the run store holds while somebody connects a credential: nobody gets it twice, it ends by itself, and
 * its secrets do not show.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectKeys } from '../../../store/oauth/keys.ts';
import { createSealingKeys, seal } from '../../../store/oauth/seal.ts';
import {
  hashOf,
  storeLink,
  storeState,
  storeCode,
  newSecret,
  publishKey,
  readLink,
  SEALED_FOR,
  takeCodes,
  takeLink,
  takeState,
  type Link,
} from '../../../store/oauth/states.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

const MANY = 20;
const CONNECTING = {
  namespace: 'shop',
  name: 'mailbox',
  uid: '1',
  generation: 1,
  user: 'ana',
  connection: 'c',
  redirectURI: 'https://hooks.example.com/oauth/callback',
  scopes: [],
  mustNameIssuer: false,
};
const LINK: Link = { ...CONNECTING, authorizationURL: 'https://id.example.com/auth', endsAt: 1 };
const STATE = { ...CONNECTING, browser: 'b' };

let store: TestStore;

beforeAll(async () => {
  store = await startRunStore();
});
afterAll(() => store?.stop());
beforeEach(() => store.conn.command('flushall'));

const secondsOf = async (key: string) => Number(await store.conn.command('pttl', key)) / 1_000;

/** How many of many who want it at once get it. */
async function gotten(take: () => Promise<{ outcome: string }>): Promise<number> {
  const all = await Promise.all(Array.from({ length: MANY }, take));
  return all.filter(({ outcome }) => outcome === 'found').length;
}

test('a link can be read until one follows it, for ten minutes at most', async () => {
  const secret = newSecret();
  await storeLink(store.conn, secret, LINK);
  expect(await secondsOf(connectKeys.link(hashOf(secret)))).toBeCloseTo(600, -1);
  for (const _read of [1, 2])
    expect(await readLink(store.conn, secret)).toEqual({ outcome: 'found', value: LINK });
  expect(await gotten(() => takeLink(store.conn, secret))).toBe(1);
  expect(await readLink(store.conn, secret)).toEqual({ outcome: 'none' });
});

test('a state counts once, and as long as it was told to', async () => {
  const secret = newSecret();
  await storeState(store.conn, secret, STATE, 30_000);
  expect(await secondsOf(connectKeys.state(hashOf(secret)))).toBeCloseTo(30, -1);
  expect(await gotten(() => takeState(store.conn, secret))).toBe(1);
});

test('a sealed code waits for 60 s, also where others come after it', async () => {
  const { codes } = connectKeys;
  const old = `${Date.now() - 61_000} old`;
  const young = `${Date.now() - 55_000} young`;
  await store.conn.command('rpush', codes, old, young);
  await storeCode(store.conn, 'new');
  expect(await store.conn.command('llen', codes)).toBe(2);
  expect(await secondsOf(codes)).toBeCloseTo(60, -1);
  await store.conn.command('lpush', codes, old);
  expect(await takeCodes(store.conn)).toEqual(['young', 'new']);
  expect(await takeCodes(store.conn)).toEqual([]);
});

test('the key of an operator that says nothing any more counts for 15 s', async () => {
  await publishKey(store.conn, (await createSealingKeys()).publicKey);
  expect(await secondsOf(connectKeys.key)).toBeCloseTo(15, -1);
});

test('whoever reads all that is there can neither follow a link, nor answer a state, nor use a code', async () => {
  const [link, state] = [newSecret(), newSecret()];
  await storeLink(store.conn, link, LINK);
  await storeState(store.conn, state, STATE, 30_000);
  const { publicKey } = await createSealingKeys();
  await storeCode(store.conn, await seal(publicKey, 'the code', SEALED_FOR));
  const keys = (await store.conn.command('keys', '*')) as string[];
  expect(keys).toHaveLength(4);
  const texts = await Promise.all([
    store.conn.command('get', connectKeys.link(hashOf(link))),
    store.conn.command('get', connectKeys.state(hashOf(state))),
    store.conn.command('lrange', connectKeys.codes, 0, -1),
  ]);
  const all = JSON.stringify([keys, texts]);
  for (const secret of [link, state, 'the code']) expect(all).not.toContain(secret);
});
