import { expect, test } from 'vitest';
import { readMailbox } from './mailbox.ts';

test.each<[string, { name: string; address: string }]>([
  ['ada@example.com', { name: '', address: 'ada@example.com' }],
  ['  <ada@example.com> ', { name: '', address: 'ada@example.com' }],
  ['Ada <ada@example.com>', { name: 'Ada', address: 'ada@example.com' }],
  ["O'Brien <o'brien@example.com>", { name: "O'Brien", address: "o'brien@example.com" }],
  ['"Lovelace, Ada" <ada@example.com>', { name: 'Lovelace, Ada', address: 'ada@example.com' }],
  ['"bo@example.com" <ada@example.com>', { name: 'bo@example.com', address: 'ada@example.com' }],
  ['"山田　太郎" <taro@example.jp>', { name: '山田　太郎', address: 'taro@example.jp' }],
  ['Grün <grün@bücher.example>', { name: 'Grün', address: 'grün@bücher.example' }],
])('%s is one mailbox', (text, mailbox) => {
  expect(readMailbox(text)).toEqual({ mailbox });
});

test.each([
  '',
  'ada',
  'Ada <ada>',
  'ada@example.com, bo@example.com',
  'ada@example.com; bo@example.com',
  'ada@example.com bo@example.com',
  'ada@example.com <bo@example.com> <cy@example.com>',
  'evil@example.com, Ada <ada@example.com>',
  'evil@example.com; Ada <ada@example.com>',
  'x: evil@example.com, bo@example.com; Ada <ada@example.com>',
  'x: ada@example.com;',
  'ada@example.com(evil@example.com)',
  'Ada (evil@example.com) <ada@example.com>',
  'evil@example.com\u00a0<ada@example.com>',
  'ada@example.com\u2003bo@example.com',
  'ada\u200b@example.com',
  'ada@example.com\uff0cbo@example.com',
  'ada@example\u3002com',
  'ada@example.com\ufe50bo\ufe6bevil.example',
  'ada@example.com\ufe65',
  'ada@\u2474example.com',
  'ada@example.com\r\nBcc: bo@example.com',
  '"ada@example.com',
  '<ada@example.com',
  'ada@example.com>',
  '"a b"@example.com',
  'ada@[127.0.0.1]',
  `${'a'.repeat(512)}@example.com`,
])('%j is not one mailbox', (text) => {
  expect(readMailbox(text)).toEqual({ problem: expect.stringMatching(/^must /) });
});

test('a long text is refused before it is parsed', () => {
  for (const part of ['a', '",', 'a"', 'a@b.co,', 'a<', '(', ' ', '\\']) {
    const started = performance.now();
    readMailbox(part.repeat(1_000_000 / part.length));
    readMailbox(part.repeat(511 / part.length));
    expect(performance.now() - started).toBeLessThan(1_000);
  }
});
