import { expect, test } from 'vitest';
import { CALLBACK_PLACEHOLDER, callbackToken, isSigned, readToken, withoutCallbackURLs } from './callback.ts';

const key = { id: 'k1', key: Buffer.alloc(32, 1) };
const target = { run: 'orders-1', acceptedAt: 1_700_000_000_000, node: 'each.3.0.1/approve' };
const token = callbackToken('2f1c-uid', key, target);

test('a token names its project, key and node, and only its key has signed it', () => {
  const read = readToken(token);
  expect(read).toMatchObject({ project: '2f1c-uid', keyId: 'k1', target });
  expect(read && isSigned(read, key.key)).toBe(true);
  expect(read && isSigned(read, Buffer.alloc(32, 2))).toBe(false);
});

test('a token with any other part is not signed', () => {
  const parts = token.split('.');
  const other = callbackToken('2f1c-uid', key, { ...target, node: 'approve' }).split('.');
  for (const [index, part] of [
    [1, 'other-uid'],
    [2, 'k2'],
    [3, other[3]],
    [4, other[4]],
  ] as const) {
    const read = readToken(parts.map((each, at) => (at === index ? part : each)).join('.'));
    expect(read && isSigned(read, key.key)).toBe(false);
  }
});

test.each(['', 'wlc', 'wlc.a.b.c', `${token}.x`, token.slice(1), `wlc.a.b.bm9KU09O.${'A'.repeat(43)}`])(
  'a text of another form is no token: %s',
  (text) => expect(readToken(text)).toBeUndefined(),
);

const url = `https://hooks.example.com/base/callback/${token}`;

test.each<[given: unknown, left: unknown]>([
  [`Call ${url}, please`, `Call ${CALLBACK_PLACEHOLDER}, please`],
  [
    { a: [url, 1, null], [url]: true },
    { a: [CALLBACK_PLACEHOLDER, 1, null], [CALLBACK_PLACEHOLDER]: true },
  ],
  [`<a href="${url}">`, `<a href="${CALLBACK_PLACEHOLDER}">`],
  [`path /callback/${token}`, `path ${CALLBACK_PLACEHOLDER}`],
  ['https://example.com/callback/other', 'https://example.com/callback/other'],
  [{ n: 1 }, { n: 1 }],
])('readers see no URL of a callback', (given, left) => {
  expect(withoutCallbackURLs(given)).toEqual(left);
});
