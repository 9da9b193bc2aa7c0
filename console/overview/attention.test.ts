import { expect, test } from 'vitest';
import { credentialsNeedingAttention } from './attention.ts';

const row = (name: string, Ready: string, Reason: string, Message = 'm') => ({
  metadata: { name },
  cells: { Kind: 'oauth2', Ready, Reason, Message, Expires: '2026-01-05T09:30:00Z' },
});

test.each([
  ['False', 'Rejected', [{ name: 'a', kind: 'oauth2', isBroken: true, label: 'Rejected', message: 'm' }]],
  [
    'False',
    'NotConnected',
    [{ name: 'a', kind: 'oauth2', isBroken: true, label: 'Not connected', message: 'm' }],
  ],
  ['True', 'Expiring', [{ name: 'a', kind: 'oauth2', isBroken: false, label: 'Expiring', message: 'm' }]],
  ['True', 'Connected', []],
  ['Unknown', 'NotChecked', []],
])('a credential with %s/%s is listed as %j', (ready, reason, care) => {
  expect(credentialsNeedingAttention([row('a', ready, reason)])).toEqual(care);
});

test('broken credentials come first, then by name', () => {
  const rows = [row('c', 'True', 'Expiring'), row('b', 'False', 'Rejected'), row('a', 'False', 'Rejected')];
  expect(credentialsNeedingAttention(rows).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});
