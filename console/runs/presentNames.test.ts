import { expect, test } from 'vitest';
import { messageParts } from './presentNames.ts';

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
