import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { createIssuerKeys, type IssuerKeysOptions } from './issuerKeys.ts';
import { fetchClusterKeys } from './publishedKeys.ts';

const ISSUER = 'https://issuer.example';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

function token(key: KeyObject, head: object, claims: object): string {
  const text = `${encode(head)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

const tokenPSS = (): string => {
  const text = `${encode({ alg: 'PS256', kid: 'rsa' })}.${encode(GOOD)}`;
  const form = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const signature = sign('sha256', Buffer.from(text), { key: rsa.privateKey, ...form });
  return `${text}.${signature.toString('base64url')}`;
};
const tokenEd = (): string => {
  const text = `${encode({ alg: 'EdDSA', kid: 'ed' })}.${encode(GOOD)}`;
  return `${text}.${sign(null, Buffer.from(text), ed.privateKey).toString('base64url')}`;
};

const NOW = new Date('2026-01-01T00:00:00Z').getTime() / 1_000;
const GOOD = { iss: ISSUER, exp: NOW + 600 };
const RS = { alg: 'RS256', kid: 'rsa' };
const good = token(rsa.privateKey, RS, GOOD);

async function setUp(over: Partial<IssuerKeysOptions> = {}) {
  const jwk = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid });
  const state = {
    asked: 0,
    down: false,
    keys: [jwk(rsa.publicKey, 'rsa'), jwk(ec.publicKey, 'ec'), jwk(ed.publicKey, 'ed')],
  };
  const raw = async (_method: string, path: string) => {
    state.asked += 1;
    if (state.down) throw new Error('away');
    return path.endsWith('jwks') ? { keys: state.keys } : { issuer: ISSUER };
  };
  const clock = createManualClock();
  const client = { raw: raw as KubeClient['raw'] };
  const fetchKeys = () => fetchClusterKeys(client);
  const keys = createIssuerKeys({ fetchKeys, clock, log: createCollectedLog(), ...over });
  const judge = async (text: string) => {
    await keys.judge(text);
    await keys.settled();
    return keys.judge(text);
  };
  return { state, clock, keys, judge, add: (key: KeyObject, kid: string) => state.keys.push(jwk(key, kid)) };
}

test.each([
  ['by RSA', good, 'signed'],
  ['by ECDSA', token(ec.privateKey, { alg: 'ES256', kid: 'ec' }, GOOD), 'signed'],
  ['without an end', token(rsa.privateKey, RS, { iss: ISSUER }), 'signed'],
  ['that has just run out', token(rsa.privateKey, RS, { ...GOOD, exp: NOW - 59 }), 'signed'],
  ['that has run out', token(rsa.privateKey, RS, { ...GOOD, exp: NOW - 61 }), 'refused'],
  ['with the key of another', token(other.privateKey, RS, GOOD), 'refused'],
  [
    'with other claims than were signed',
    good.replace(encode(GOOD), encode({ ...GOOD, exp: NOW + 900 })),
    'refused',
  ],
  ['without a signature', `${good.split('.').slice(0, 2).join('.')}.`, 'refused'],
  ['without an algorithm', token(rsa.privateKey, { alg: 'none', kid: 'rsa' }, GOOD), 'refused'],
  [
    'with the algorithm of another kind of key',
    token(rsa.privateKey, { alg: 'HS256', kid: 'rsa' }, GOOD),
    'refused',
  ],
  [
    'with a key that is not published',
    token(other.privateKey, { alg: 'RS256', kid: 'new' }, GOOD),
    'unknown',
  ],
  ['without the name of a key', token(rsa.privateKey, { alg: 'RS256' }, GOOD), 'signed'],
  [
    'with the key of another and without its name',
    token(other.privateKey, { alg: 'RS256' }, GOOD),
    'unknown',
  ],
  ['that is for later', token(rsa.privateKey, RS, { ...GOOD, nbf: NOW + 61 }), 'refused'],
  ['that has just begun', token(rsa.privateKey, RS, { ...GOOD, nbf: NOW + 59 }), 'signed'],
  ['by RSA with PSS', tokenPSS(), 'signed'],
  ['by EdDSA', tokenEd(), 'signed'],
  ['with the hash of another curve', token(ec.privateKey, { alg: 'ES384', kid: 'ec' }, GOOD), 'refused'],
  ['of another issuer', token(rsa.privateKey, RS, { ...GOOD, iss: 'https://other.example' }), 'unknown'],
  ['that is no JWT', 'opaque', 'unknown'],
  ['that is no JSON', 'a.b.c', 'unknown'],
  ['with more parts', `${good}.more`, 'unknown'],
  // Each of these spells the same bytes, so that one good token would be as many as somebody likes.
  ['with more behind its signature', `${good}~`, 'refused'],
  ['with a padded signature', `${good}==`, 'refused'],
])('a token %s', async (_what, text, verdict) => {
  const { judge } = await setUp();
  expect(await judge(text)).toBe(verdict);
});

test('without keys every token is unknown, and the keys are fetched twice a minute', async () => {
  const { state, clock, judge } = await setUp();
  state.down = true;
  for (let at = 0; at < 20; at += 1) expect(await judge(good)).toBe('unknown');
  expect(state.asked).toBe(1);
  state.down = false;
  await clock.advance(30_000);
  expect(await judge(good)).toBe('signed');
});

test('a new key is fetched when a token names it, at most twice a minute', async () => {
  const { state, clock, judge, add } = await setUp();
  expect(await judge(good)).toBe('signed');
  add(other.publicKey, 'new');
  const text = token(other.privateKey, { alg: 'RS256', kid: 'new' }, GOOD);
  for (let at = 0; at < 20; at += 1) expect(await judge(text)).toBe('unknown');
  expect(state.asked).toBe(2);
  await clock.advance(30_000);
  expect(await judge(text)).toBe('signed');
});

test('old keys are used while new ones cannot be fetched, since they allow nobody', async () => {
  const { state, clock, judge } = await setUp();
  expect(await judge(good)).toBe('signed');
  state.down = true;
  await clock.advance(300_000);
  expect(await judge(good)).toBe('signed');
});

test.each([
  ['for the client', { aud: 'console' }, 'signed'],
  ['for the client and others', { aud: ['kubectl', 'console'] }, 'signed'],
  ['for another client', { aud: 'kubectl' }, 'unknown'],
  ['for nobody', {}, 'unknown'],
])("a provider's token %s", async (_what, claims, verdict) => {
  const { judge } = await setUp({ audience: 'console' });
  expect(await judge(token(rsa.privateKey, RS, { ...GOOD, ...claims }))).toBe(verdict);
  expect(await judge(token(other.privateKey, RS, { ...GOOD, ...claims }))).toBe('refused');
});

test('a token of the provider waits for keys that are being fetched, others do not', async () => {
  const { keys, state, clock } = await setUp({ issuer: `${ISSUER}/` });
  expect(await keys.judgeFetched(token(rsa.privateKey, RS, { ...GOOD, iss: 'https://other.example' }))).toBe(
    'unknown',
  );
  expect(await keys.judgeFetched(good)).toBe('signed');
  state.keys = [];
  await clock.advance(30_000);
  expect(await keys.judgeFetched(token(other.privateKey, { alg: 'RS256', kid: 'new' }, GOOD))).toBe(
    'unknown',
  );
  expect(await keys.judgeFetched(good)).toBe('unknown');
});
