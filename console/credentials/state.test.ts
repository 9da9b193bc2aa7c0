import { expect, test } from 'vitest';
import { messageBeside } from './state.ts';

test.each([
  ['NotConnected', 'Click Connect and sign in with the account that workflows should use.'],
  ['Rejected', 'what the operator says'],
])('beside a credential that is %s a form says: %s', (reason, said) => {
  expect(messageBeside({ reason, message: 'what the operator says' })).toBe(said);
});
