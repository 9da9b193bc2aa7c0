import { expect, test } from 'vitest';
import { createSealingKeys, seal } from './seal.ts';

const keys = await createSealingKeys();
const sealed = await seal(keys.publicKey, 'the code', 'shop');

test('what was sealed can be opened with the private key, for the same purpose', async () => {
  expect(await keys.open(sealed, 'shop')).toBe('the code');
});

test('nothing else opens it', async () => {
  expect(await (await createSealingKeys()).open(sealed, 'shop')).toBeUndefined();
  expect(await keys.open(sealed, 'other')).toBeUndefined();
  for (const at of [0, 40, sealed.length - 3]) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    expect(await keys.open(changed, 'shop')).toBeUndefined();
  }
  for (const broken of ['', 'AAAA', sealed.slice(0, 60), 'A'.repeat(100)])
    expect(await keys.open(broken, 'shop')).toBeUndefined();
});

test('the same text is never sealed the same way, and does not show', async () => {
  expect(await seal(keys.publicKey, 'the code', 'shop')).not.toBe(sealed);
  for (const part of sealed.split('.'))
    expect(Buffer.from(part, 'base64url').toString('latin1')).not.toContain('the code');
});

test('nothing is sealed to what is no key', async () => {
  await expect(seal('nothing', 'the code', 'shop')).rejects.toThrow(/key/i);
});
