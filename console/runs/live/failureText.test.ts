import { expect, test } from 'vitest';
import { failureParts, failureText } from './failureText.ts';

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

test.each<[message: string, cause: string, places: string[]]>([
  ['node mail: Unreachable: no answer\nin 5 s', 'no answer\nin 5 s', ['Send the reply']],
  [
    'node ask: CredentialMissing: the Credential a does not exist',
    'the Credential a does not exist',
    ['ask'],
  ],
  ['edge a → mail: when: n is a text', 'n is a text', ['Connection a → Send the reply']],
  ['node each: ConditionFailed: edge a → b: when: x', 'x', ['each', 'Connection a → b']],
  ['node each: Unreachable: item 2: node mail: Unreachable: no', 'no', ['each', 'item 2', 'Send the reply']],
  ['node mail: the runner died', 'the runner died', ['Send the reply']],
  ['node mail: Unreachable', 'Unreachable', ['Send the reply']],
  ['node code: CodeFailed: Error: no price', 'Error: no price', ['code']],
  ['cancelled by ada', 'cancelled by ada', []],
  ['item 3: ', 'item 3: ', []],
  ['node code: CodeFailed: \n', 'CodeFailed: \n', ['code']],
])('of %j, a list shows first what failed: %j, then where: %j', (message, cause, places) => {
  expect(failureParts({ message }, new Map([['mail', 'Send the reply']]))).toEqual({ cause, places });
});

test('the message of a Fail node, which has a reason of its own, is as its author wrote it', () => {
  const message = 'item 3: sold out';
  expect(failureParts({ message, reason: 'SoldOut' })).toEqual({ cause: message, places: [] });
  expect(failureParts({ message: 'node mail: no', reason: 'NodeFailed' }).places).toEqual(['mail']);
});
