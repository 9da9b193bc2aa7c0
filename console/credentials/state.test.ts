import { expect, test } from 'vitest';
import { messageBeside, needsConnecting } from './state.ts';

const CONNECT = 'Click Connect and sign in with the account that workflows should use.';
const SAID = 'what the operator says';

test.each([
  ['False', 'NotConnected', CONNECT, true],
  ['False', 'Rejected', SAID, true],
  ['True', 'MissingScope', SAID, true],
  ['True', 'Expiring', SAID, true],
  ['True', 'Checked', undefined, false],
  ['True', 'Unused', undefined, false],
])('beside a credential whose Ready is %s with %s a form says: %s', (status, reason, said, connects) => {
  expect(messageBeside({ status, reason, message: SAID })).toBe(said);
  expect(needsConnecting({ status, reason })).toBe(connects);
});
