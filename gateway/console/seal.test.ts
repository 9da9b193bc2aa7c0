import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openValue, sealValue } from './seal.ts';

const key = randomBytes(32);
const value = { token: 'the token', groups: ['a', 'b'] };
const sealed = sealValue(key, value, 'session');

test('what was sealed can be opened with the same key, for the same purpose', () => {
  expect(openValue(key, sealed, 'session')).toEqual(value);
});

test('nothing else opens it', () => {
  expect(openValue(randomBytes(32), sealed, 'session')).toBeUndefined();
  expect(openValue(key, sealed, 'sign-in')).toBeUndefined();
  for (let at = 0; at < sealed.length - 1; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect(openValue(key, sealed.slice(0, at) + other + sealed.slice(at + 1), 'session')).toBeUndefined();
  }
  for (const broken of [
    '',
    'AAAA',
    sealed.slice(0, 20),
    sealed.slice(0, -4),
    `${sealed}AAAA`,
    'A'.repeat(200),
  ])
    expect(openValue(key, broken, 'session')).toBeUndefined();
});

test('the same value is never sealed the same way, and does not show', () => {
  expect(sealValue(key, value, 'session')).not.toBe(sealed);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('token');
});

test('a token takes no more room sealed than it had', () => {
  const claims = {
    iss: 'https://issuer.example.com',
    sub: 'ada',
    exp: 1_800_000_000,
    groups: Array.from({ length: 40 }, (_, at) => `group-${at}`),
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const token = `${encode({ alg: 'RS256' })}.${encode(claims)}.${randomBytes(256).toString('base64url')}`;
  expect(sealValue(key, { token }, 'session').length).toBeLessThan(token.length);
});
