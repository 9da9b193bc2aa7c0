import { expect, test } from 'vitest';
import { parseMarkdown } from '../../../console/ui/markdownBlocks.ts';
import { readMarkdown } from '../../../gateway/public/chat/chatMarkdown.js';

const LINES = [
  '',
  '  ',
  'a',
  '  a',
  '# a',
  '###### a',
  '- a',
  '  - a',
  '    - a',
  '2. a',
  '10) a',
  '> a',
  '> - a',
  '>> # a',
  '```',
  '~~~js',
  '---',
  '* * *',
  '| a | b |',
  '|---|---|',
  '|',
];

test('the chat page and the console read the same blocks', () => {
  const pairs = LINES.flatMap((one) => LINES.map((other) => `${one}\n${other}`));
  const texts = pairs.flatMap((pair) => LINES.map((line) => `${pair}\n${line}`));
  expect(texts.map(readMarkdown)).toEqual(texts.map(parseMarkdown));
});
