import { expect, test } from 'vitest';
import {
  AUTH_SCHEMES,
  decodeKeys,
  encodeKeys,
  entryName,
  parseEntryName,
  usableKey,
  type AuthScheme,
} from './webhookAuth.ts';

const bytes = (text: string) => Buffer.from(text);

test.each(AUTH_SCHEMES)('%s can use neither an empty secret nor one that is too long', (scheme) => {
  expect(usableKey(scheme, bytes(''))).toEqual({ ok: false, why: 'is empty' });
  expect(usableKey(scheme, Buffer.alloc(4_097, 'A'))).toMatchObject({ ok: false });
});

test.each(['bearer', 'basic'] as const)('%s cannot use what no header can carry', (scheme) => {
  expect(usableKey(scheme, bytes('a token'))).toMatchObject({ ok: true });
  for (const text of ['token\n', 'to\0ken', '\x7f'])
    expect(usableKey(scheme, bytes(text))).toMatchObject({
      ok: false,
      why: expect.stringMatching(/line break/),
    });
});

test.each(['hmac', 'github'] as const)('%s takes a secret byte for byte', (scheme) => {
  const value = Buffer.from([0, 10, 255]);
  expect(usableKey(scheme, value)).toEqual({ ok: true, key: value });
});

const STANDARD: [text: string, key: string | undefined][] = [
  ['whsec_AQID', '010203'],
  ['AQID', '010203'],
  ['whsec_AQID\n', '010203'],
  ['whsec_', undefined],
  ['whsec_AQI', undefined],
  ['whsec_not base64', undefined],
  ['whsk_AQID', undefined],
];

test.each(STANDARD)('of the Standard Webhooks secret %j the key is %s', (text, key) => {
  const usable = usableKey('standardWebhooks' satisfies AuthScheme, bytes(text));
  expect(usable.ok ? Buffer.from(usable.key).toString('hex') : undefined).toBe(key);
});

test('keys are the same after they were handed over', () => {
  const keys = [Buffer.from([0, 255, 10]), bytes('ü')];
  expect(decodeKeys(encodeKeys(keys))).toEqual(keys);
});

test.each(['', '{}', '[]', '[""]', '["AQID",""]', '["AQID",1]', '["A"]', 'null', 'AQID'])(
  '%s holds no keys',
  (text) => {
    expect(decodeKeys(text)).toBeUndefined();
  },
);

test('an entry is named by its workflow and its material, and other names stand for none', () => {
  const name = entryName('5f0d7f0e-6a5b-4c0e-9d55-0d8e7a5b3c11', '0123456789abcdef');
  expect(parseEntryName(name)).toEqual({
    uid: '5f0d7f0e-6a5b-4c0e-9d55-0d8e7a5b3c11',
    material: '0123456789abcdef',
  });
  expect(['password', 'a.b', 'uid.0123456789abcdeg', '.0123456789abcdef'].map(parseEntryName)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
