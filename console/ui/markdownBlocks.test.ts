import { expect, test } from 'vitest';
import { parseMarkdown } from './markdownBlocks.ts';

test.each([
  ['', []],
  [
    'a\nb\n\nc',
    [
      { kind: 'text', text: 'a\nb' },
      { kind: 'text', text: 'c' },
    ],
  ],
  [
    '# T\n### U',
    [
      { kind: 'heading', level: 1, text: 'T' },
      { kind: 'heading', level: 3, text: 'U' },
    ],
  ],
  [
    '```js\n# x\n```\nafter',
    [
      { kind: 'code', text: '# x' },
      { kind: 'text', text: 'after' },
    ],
  ],
  ['> a\n> - b', [{ kind: 'quote', blocks: [{ kind: 'text', text: 'a' }, list(['b'])] }]],
  ['- a\n  - b\n- c', [{ kind: 'list', start: undefined, items: [['a', list(['b'])], ['c']] }]],
  ['- a\n2. b', [list(['a']), { ...list(['b']), start: 2 }]],
  ['a\n---\nb', [{ kind: 'text', text: 'a' }, { kind: 'rule' }, { kind: 'text', text: 'b' }]],
  ['| n |\n|---|\n| 1 |', [{ kind: 'table', head: ['n'], rows: [['1']] }]],
  ['| n |\nno table', [{ kind: 'text', text: '| n |\nno table' }]],
])('%j is read', (text, blocks) => {
  expect(parseMarkdown(text)).toEqual(blocks);
});

function list(items: string[]) {
  return { kind: 'list', start: undefined, items: items.map((item) => [item]) };
}

test.each([
  '>'.repeat(20_000),
  '-'.repeat(20_000) + 'x',
  `${'  '.repeat(50)}- a\n`.repeat(100),
  '|'.repeat(20_000),
  '- \u2028',
])('hostile text is read in time', (text) => {
  expect(parseMarkdown(text).length).toBeGreaterThan(0);
});

test.each(['\n', 'a\n', '- a\n', '> a\n', '| a |\n'])('many lines %j are read in linear time', (line) => {
  const begun = performance.now();
  parseMarkdown(line.repeat(250_000));
  expect(performance.now() - begun).toBeLessThan(5_000);
});
