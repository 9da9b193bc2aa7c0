import { expect, test } from 'vitest';
import { keptRevisionNote } from '../../api/keptRevision.ts';
import { itemOf } from '../workflows/items.ts';
import { attentionCounts, needingAttention } from './attention.ts';

const row = (name: string, Ready: string, Reason: string, Message = 'm') => ({
  metadata: { name },
  cells: { Kind: 'oauth2', Ready, Reason, Message, Expires: '2026-01-05T09:30:00Z' },
});

test.each([
  [
    'False',
    'Rejected',
    [
      {
        of: 'credential',
        name: 'a',
        title: 'a',
        kind: 'Google, Microsoft or other account',
        isBroken: true,
        label: 'Rejected',
        message: 'm',
      },
    ],
  ],
  [
    'False',
    'NotConnected',
    [
      {
        of: 'credential',
        name: 'a',
        title: 'a',
        kind: 'Google, Microsoft or other account',
        isBroken: true,
        label: 'Not connected',
        message: 'm',
      },
    ],
  ],
  [
    'True',
    'Expiring',
    [
      {
        of: 'credential',
        name: 'a',
        title: 'a',
        kind: 'Google, Microsoft or other account',
        isBroken: false,
        label: 'Expires soon',
        message: 'm',
      },
    ],
  ],
  ['True', 'Connected', []],
  ['Unknown', 'NotChecked', []],
])('a credential with %s/%s is listed as %j', (ready, reason, care) => {
  expect(needingAttention([], [row('a', ready, reason)])).toEqual(care);
});

test('a missing Secret is said with what to do in the console, not with a command', () => {
  const said = 'Secret mail does not exist. Create it: kubectl -n shop create secret generic mail';
  expect(needingAttention([], [row('a', 'False', 'SecretMissing', said)])).toMatchObject([
    {
      label: 'Secret missing',
      message: 'Secret mail does not exist. Edit the credential and enter the value.',
    },
  ]);
});

test('broken credentials come first, then by name', () => {
  const rows = [row('c', 'True', 'Expiring'), row('b', 'False', 'Rejected'), row('a', 'False', 'Rejected')];
  expect(needingAttention([], rows).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

const item = (name: string, cells: Record<string, unknown>) =>
  itemOf({ metadata: { name }, cells: { Active: true, Ready: 'True', ...cells } });
const missing = { Ready: 'False', Reason: 'CredentialMissing', Message: 'There is no mail.' };

test('a broken credential comes before the workflows that fail because of it, one that expires after them', () => {
  const found = needingAttention(
    [item('orders', missing), item('stock', missing)],
    [row('mail', 'False', 'Rejected'), row('drive', 'True', 'Expiring')],
  );
  expect(found.map(({ name }) => name)).toEqual(['mail', 'orders', 'stock', 'drive']);
  expect(attentionCounts(found)).toBe('2 credentials and 2 workflows');
  expect(attentionCounts(found.slice(1, 2))).toBe('1 workflow');
});

test('a workflow whose earlier version is live is not broken', () => {
  const Message = `node a: there is no b. ${keptRevisionNote('orders-abc')}`;
  const kept = item('orders', { Ready: 'False', Reason: 'InvalidExpression', Message });
  expect(needingAttention([kept, item('stock', missing)], []).map(({ isBroken }) => isBroken)).toEqual([
    false,
    true,
  ]);
});

test('active workflows with a problem are listed by title', () => {
  const found = needingAttention(
    [
      item('b', { ...missing, 'Display name': 'Orders' }),
      item('a', missing),
      item('off', { ...missing, Active: false }),
      item('fine', {}),
    ],
    [],
  );
  expect(found.map(({ title, label, message }) => [title, label, message])).toEqual([
    ['a', 'Credential missing', 'There is no mail.'],
    ['Orders', 'Credential missing', 'There is no mail.'],
  ]);
});
