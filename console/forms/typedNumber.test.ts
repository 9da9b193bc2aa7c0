/** Numbers that are typed key by key. */
import { expect, test } from 'vitest';
import { numberIn, shownNumber, type Typed } from './typedNumber.ts';

test.each(['0.75', '1.05', '-0.5', '10.0', '05', '12345678901234', '12345678901234567890'])(
  'the keys of %s stay in the field, which then has this number',
  (text) => {
    const shown = text.split('').reduce<Typed>((before, key) => {
      const typed = `${before}${key}`;
      return shownNumber(typed, numberIn(typed));
    }, '');
    expect(shown).toBe(text);
    expect(numberIn(shown)).toBe(Number(text));
  },
);

test('a text that is no number has none', () => {
  expect(['', '-', '.', '-.', '9'.repeat(400)].map(numberIn)).toEqual(Array(5).fill(undefined));
  expect(numberIn('-0')).toBe(0);
});

test('a value from elsewhere, as of an undo, replaces what was typed', () => {
  expect(shownNumber('0.', 3)).toBe(3);
  expect(shownNumber('0.', undefined)).toBe('');
  expect(shownNumber('-', 3)).toBe(3);
  expect(shownNumber(3, '{{ $run.id }}')).toBe('');
});
