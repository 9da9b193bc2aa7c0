import { expect, test } from 'vitest';
import { visibleText } from './visibleText.ts';

test.each([
  ['an override of the direction', 'pay \u202E001\u202C', 'pay [U+202E]001[U+202C]'],
  ['an isolate', '\u2066a\u2069', '[U+2066]a[U+2069]'],
  ['a code of a terminal', '\u001b[2Jgone', '[U+001B][2Jgone'],
  ['a line that overwrites another', 'real\rfake', 'real[U+000D]fake'],
  ['text in tags', 'Hello\u{e0048}\u{e0069}', 'Hello[U+E0048][U+E0069]'],
  ['text in variation selectors', 'Hello\u{e0141}', 'Hello[U+E0141]'],
  ['a character without a width', 'evil\u200b.example', 'evil[U+200B].example'],
])('%s becomes visible', (_what, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test.each(['two\nlines\tand a tab', 'שלום \u200Fעולם', 'می‌خواهم', '👩‍🚀', '❤\ufe0f', 'é'])(
  '%j is shown as it is',
  (text) => {
    expect(visibleText(text)).toBe(text);
  },
);
