/** What becomes of the value of an editor that renders later than its user types. */
import { expect, test } from 'vitest';
import { createTyping } from './typing.ts';

test('a value that the editor reported replaces nothing: newer text may follow it', () => {
  const typing = createTyping('');
  expect(['a', 'ab', 'abc'].map((text) => typing.reports(text))).toEqual([true, true, true]);
  expect(typing.replaces('a')).toBe(false);
  expect(typing.replaces('abc')).toBe(false);
});

test('a value from outside replaces the text, and the editor does not report it', () => {
  const typing = createTyping('example');
  typing.reports('typed');
  expect(typing.replaces('the last event')).toBe(true);
  expect(typing.reports('the last event')).toBe(false);
  expect(typing.replaces('typed')).toBe(true);
});

test('a change that is taken back before it was rendered is reported', () => {
  const typing = createTyping('');
  expect(typing.reports('a')).toBe(true);
  expect(typing.reports('')).toBe(true);
  expect(typing.replaces('a')).toBe(false);
  expect(typing.replaces('')).toBe(false);
});

test('the value that the editor has already is neither reported nor a replacement', () => {
  const typing = createTyping('example');
  expect(typing.reports('example')).toBe(false);
  expect(typing.replaces('example')).toBe(false);
});

test('after a value that was rendered, the texts before it come from outside again', () => {
  const typing = createTyping('');
  typing.reports('a');
  typing.reports('ab');
  expect(typing.replaces('ab')).toBe(false);
  expect(typing.replaces('a')).toBe(true);
});
