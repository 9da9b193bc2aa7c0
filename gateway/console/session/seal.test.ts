import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openValue, sealValue } from './seal.ts';

const key = randomBytes(32);
const value = { token: 'the token', groups: ['a', 'b'] };
const sealed = await sealValue(key, value, 'session');

test('a sealed value opens with the same key for the same purpose', async () => {
  expect(await openValue(key, sealed, 'session')).toEqual(value);
});

test('nothing else opens it', async () => {
  expect(await openValue(randomBytes(32), sealed, 'session')).toBeUndefined();
  expect(await openValue(key, sealed, 'sign-in')).toBeUndefined();
  for (let at = 0; at < sealed.length; at += 1) {
    // The last character of a part may hold bits that stand for nothing.
    if (sealed[at + 1] === '.' || at === sealed.length - 1) continue;
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    expect(await openValue(key, changed, 'session')).toBeUndefined();
  }
  for (const broken of [
    '',
    'AAAA',
    sealed.slice(0, 20),
    sealed.slice(0, -4),
    `${sealed}AAAA`,
    'A'.repeat(200),
  ])
    expect(await openValue(key, broken, 'session')).toBeUndefined();
});

test('equal values are sealed differently, and are not visible', async () => {
  expect(await sealValue(key, value, 'session')).not.toBe(sealed);
  for (const part of sealed.split('.'))
    expect(Buffer.from(part, 'base64url').toString('latin1')).not.toContain('token');
});

test('a sealed token is not longer than the token', async () => {
  const claims = {
    iss: 'https://issuer.example.com',
    sub: 'ada',
    exp: 1_800_000_000,
    groups: Array.from({ length: 40 }, (_, at) => `group-${at}`),
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const token = `${encode({ alg: 'RS256' })}.${encode(claims)}.${randomBytes(256).toString('base64url')}`;
  expect((await sealValue(key, { token }, 'session')).length).toBeLessThan(token.length);
});
