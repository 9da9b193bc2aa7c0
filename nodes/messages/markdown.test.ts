import { expect, test } from 'vitest';
import { parseMarkdown } from './markdown.ts';

/** The text with the spans written around what they hold. */
function shown(source: string): string {
  const { text, spans } = parseMarkdown(source);
  const edges = spans.flatMap((span, order) => [
    {
      at: span.start,
      order,
      mark: `{${span.format}${span.url ? ` ${span.url}` : ''}${span.language ? ` ${span.language}` : ''}:`,
    },
    { at: span.end, order: -1 - order, mark: '}' },
  ]);
  edges.sort((a, b) => b.at - a.at || b.order - a.order);
  return edges.reduce((result, { at, mark }) => result.slice(0, at) + mark + result.slice(at), text);
}

test.each([
  ['plain & <b>text</b>', 'plain & <b>text</b>'],
  ['**bold** and __bold__', '{bold:bold} and {bold:bold}'],
  ['*a* _b_ ~~c~~', '{italic:a} {italic:b} {strikethrough:c}'],
  ['***both***', '{italic:{bold:both}}'],
  ['**bold _and `code`_**', '{bold:bold {italic:and {code:code}}}'],
  ['# **Title** of *it* ', '{bold:Title of {italic:it}}'],
  ['- one\n  * two\n+ three', '• one\n  • two\n• three'],
  ['a\n---\nb', 'a\n———\nb'],
  ['[the *docs*](https://example.com/a_(b)?c=d)', '{link https://example.com/a_(b)?c=d:the {italic:docs}}'],
  ['![a lamp](https://example.com/lamp.png "Lamp")', '{link https://example.com/lamp.png:a lamp}'],
  ['<https://example.com/_a_>', 'https://example.com/_a_'],
  ['```python\na = *b*\n```\nend', '{pre python:a = *b*}\nend'],
  ['~~~\n```\n~~~', '{pre:```}'],
  ['```\nno end', '{pre:no end}'],
  ['``a ` b``', '{code:a ` b}'],
  ['\\*not\\* \\_this\\_ \\', '*not* _this_ \\'],
])('%j is shown as %j', (source, expected) => {
  expect(shown(source)).toBe(expected);
});

test.each([
  '2 * 3 * 4',
  'some_long_name and __init__py',
  'a*',
  '**never closed',
  '`never closed',
  '[no link](javascript:alert(1))',
  '[no link](data:text/html,x)',
  '[text] (https://example.com/)',
  '#hashtag',
  '-no list',
  '** **',
  'a **** b',
])('%j stays as it is', (source) => {
  expect(shown(source)).toBe(source);
});

test('a line break is one, however it is written', () => {
  expect(shown('a\r\nb\rc')).toBe('a\nb\nc');
});

test.each(['*', '**a ', '_a', '`', '[', '![a](', '~~', '*a_', '\\', '<', '[a](https://b ', '***a **b *c '])(
  '100,000 characters of %j are read before the test is over',
  (piece) => {
    const source = `a ${piece.repeat(Math.floor(100_000 / piece.length))}`;
    // It would not end in time if the end of each mark were looked for in all that follows.
    expect(parseMarkdown(source).text).toMatch(/^a /);
  },
);

test.each([
  ['white space behind a fence', `\`\`\`${' '.repeat(200_000)}!`],
  ['many blocks of code', '```\n```\n'.repeat(60_000)],
])('%s takes time that grows with its length alone', (_what, source) => {
  const started = performance.now();
  parseMarkdown(source);
  expect(performance.now() - started).toBeLessThan(5_000);
});
