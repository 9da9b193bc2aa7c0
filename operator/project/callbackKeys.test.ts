import { expect, test } from 'vitest';
import { formatKeys, parseKeys, rotateKeys, settingsOf } from './callbackKeys.ts';

const DAY_MS = 24 * 3_600_000;

test('a project without keys gets one, which stays for 30 days', () => {
  const [first] = rotateKeys([], 0);
  expect(rotateKeys([first!], 30 * DAY_MS - 1)).toEqual([first]);
  const two = rotateKeys([first!], 30 * DAY_MS);
  expect(two).toHaveLength(2);
  expect(two[1]).toEqual(first);
  expect(two[0]?.id).not.toBe(first?.id);
});

test('a replaced key checks URLs for 90 days more, the longest wait', () => {
  const first = rotateKeys([], 0);
  const two = rotateKeys(first, 30 * DAY_MS);
  const ids = (now: number) => rotateKeys(two, now).map(({ id }) => id);
  expect(ids(120 * DAY_MS - 1)).toContain(first[0]?.id);
  expect(ids(120 * DAY_MS)).not.toContain(first[0]?.id);
});

test.each(['', 'null', '{', '[1]', '[{"id":"a"}]'])('text of another form has no keys: %s', (text) => {
  expect(parseKeys(text)).toEqual([]);
});

test('keys are read as they were written, and the newest signs', () => {
  const keys = rotateKeys(rotateKeys([], 0), 30 * DAY_MS);
  expect(parseKeys(formatKeys(keys))).toEqual(keys);
  const settings = settingsOf(keys, 'https://hooks.example.com');
  expect(settings.key.id).toBe(keys[0]?.id);
  expect(settings.keys).toHaveLength(2);
  expect(settings.key.key).toHaveLength(32);
});
