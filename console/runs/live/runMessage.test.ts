import { expect, test } from 'vitest';
import { messageParts, withoutNode } from './runMessage.ts';

test.each([
  [
    'node ask: Unreachable: cannot connect\nto it',
    { node: 'ask', rest: 'Unreachable: cannot connect\nto it' },
  ],
  ['cancelled by ada', undefined],
  ['the node ask: failed', undefined],
  ['', undefined],
])('the node of the message %j is %j', (message, parts) => {
  expect(messageParts(message)).toEqual(parts);
});

test.each([
  ['node ask: no answer', 'no answer'],
  ['node asked: no answer', 'node asked: no answer'],
  ['node each: node ask: no answer', 'node each: node ask: no answer'],
  ['no answer', 'no answer'],
])('beside the node ask, the message %j is %j', (message, text) => {
  expect(withoutNode(message, 'ask')).toBe(text);
});
