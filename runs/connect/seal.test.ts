import { expect, test } from 'vitest';
import { createSealingKeys, seal } from './seal.ts';

const keys = createSealingKeys();
const sealed = seal(keys.publicKey, 'the code', 'shop');

test('what was sealed can be opened with the private key, for the same purpose', () => {
  expect(keys.open(sealed, 'shop')).toBe('the code');
});

test('nothing else opens it', () => {
  expect(createSealingKeys().open(sealed, 'shop')).toBeUndefined();
  expect(keys.open(sealed, 'other')).toBeUndefined();
  for (const at of [0, 40, sealed.length - 3]) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect(keys.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'shop')).toBeUndefined();
  }
  for (const broken of ['', 'AAAA', sealed.slice(0, 60), 'A'.repeat(100)])
    expect(keys.open(broken, 'shop')).toBeUndefined();
});

test('the same text is never sealed the same way, and does not show', () => {
  expect(seal(keys.publicKey, 'the code', 'shop')).not.toBe(sealed);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('the code');
});

test('nothing is sealed to what is no key', () => {
  expect(() => seal('nothing', 'the code', 'shop')).toThrow(/key/i);
});
