import { expect, test } from 'vitest';
import { parsedOr, plainText, readJson } from './json.ts';

test('a reference without quotes in JSON is named as the mistake', () => {
  expect(readJson(`{"ok": true, "amount": {{ $('trigger').data_content.amount }}}`, 'any')).toEqual({
    ok: false,
    message: 'Invalid JSON, not applied: put references in quotes, as in "{{ … }}".',
  });
  expect(readJson(`{"amount": "{{ $('trigger').data_content.amount }}"}`, 'any')).toEqual({
    ok: true,
    value: { amount: "{{ $('trigger').data_content.amount }}" },
  });
});

test('another mistake in JSON is named with its place', () => {
  const read = readJson('{"amount": "{{ $previous.data_content }}",}', 'object');
  expect(read).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^Invalid JSON, not applied: Expected/),
  });
  expect(readJson('[]', 'object')).toMatchObject({
    ok: false,
    message: expect.stringContaining('JSON object'),
  });
  expect(readJson(' ', 'object')).toEqual({ ok: true, value: undefined });
});

test.each(['{"id": 12345678901234567890}', '1e400', '"quoted"', '{"total": 1.0}'])(
  'text that was shown as JSON and not edited is the same: %s',
  (text) => {
    const value = parsedOr(text);
    expect(plainText(value, text)).toBe(text);
    expect(plainText({ other: 1 }, text)).toBe('{\n  "other": 1\n}');
  },
);

test.each(["{{ $('mail').data_content }}", '{"a": {{ $index }}}', 'text'])(
  'text that is shown as JSON and as text again is the same: %s',
  (text) => {
    expect(plainText(parsedOr(text))).toBe(text);
  },
);
