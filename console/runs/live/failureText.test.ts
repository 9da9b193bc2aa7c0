import { expect, test } from 'vitest';
import { failureText } from './failureText.ts';

test.each([
  ['edge a → b: when: line 1, column 3: no such key', 'Connection a → b: line 1, column 3: no such key'],
  ['node each: ConditionFailed: edge a → b: when: x', 'node each: ConditionFailed: Connection a → b: x'],
  ['ConditionFailed: edge a → b: when: x', 'ConditionFailed: Connection a → b: x'],
  ['no edge a → b: when: x', 'no edge a → b: when: x'],
  ['node ask: Unreachable: no answer', 'node ask: Unreachable: no answer'],
])('%s is shown as %s', (message, shown) => {
  expect(failureText(message)).toBe(shown);
});

test('the nodes of the connection have their display names', () => {
  expect(failureText('edge a → b: when: x', new Map([['b', 'Send the reply']]))).toBe(
    'Connection a → Send the reply: x',
  );
});
