import { expect, test } from 'vitest';
import { styleText } from './trusted.ts';

test('a style sheet passes unchanged', () => {
  const text = ':root { --a: 1px; } @media (width > 30em) { a { color: red; } }';
  expect(styleText(text)).toBe(text);
});

test.each(['<img src=x onerror=alert(1)>', 'a { } </style><script>', '<'])(
  'markup such as %s is refused',
  (text) => {
    expect(() => styleText(text)).toThrow(TypeError);
  },
);
