import { expect, test } from 'vitest';
import { keptRevisionNote } from '../../api/keptRevision.ts';
import type { Row } from '../kube/table.ts';
import {
  changedBy,
  filtered,
  itemOf,
  NO_FILTER,
  rateText,
  reasonLabel,
  sorted,
  successRate,
  type SortKey,
} from './items.ts';

const KEPT = `node a: there is no b. ${keptRevisionNote('orders-abc')}`;

const row = (name: string, cells: Record<string, unknown> = {}, metadata = {}): Row => ({
  metadata: { name, uid: name, ...metadata },
  cells: { Active: true, Ready: 'True', Reason: 'Serving', Trigger: 'webhook', ...cells },
});

test('an item has the values of the row, and the name if there is no display name', () => {
  const cells = { 'Display name': 'Orders', URL: 'http://x', 'Last accepted': '2026-01-05T09:30:00Z' };
  const counts = { Running: 1, Waiting: 4, Succeeded: 9, Failed: 2 };
  expect(itemOf(row('orders', { ...cells, ...counts }))).toMatchObject({
    name: 'orders',
    title: 'Orders',
    active: true,
    trigger: 'webhook',
    url: 'http://x',
    lastRun: '2026-01-05T09:30:00Z',
    running: 1,
    waiting: 4,
    succeeded: 9,
    failed: 2,
  });
  expect(itemOf(row('orders')).title).toBe('orders');
});

test.each([
  [{}, {}, { kind: 'ready', label: 'Ready' }],
  [{ Reason: 'Inactive', Message: 'off' }, {}, { kind: 'inactive', label: 'Inactive' }],
  [
    { Reason: 'Suspended', Suspended: true, Waiting: 12 },
    {},
    {
      kind: 'suspended',
      label: 'Suspended',
      message:
        'Every run is refused, including test runs. 12 runs are paused; they start or continue when you resume.',
    },
  ],
  [
    { Ready: 'False', Reason: 'AuthRequired', Stalled: 'True', Suspended: true, Message: 'Set auth.' },
    {},
    { kind: 'attention', label: 'Suspended · auth required', message: 'Set auth.' },
  ],
  [{ Ready: 'Unknown', Reason: 'Pending' }, {}, { kind: 'waiting', label: 'Pending' }],
  [{ Ready: undefined, Reason: undefined }, {}, { kind: 'waiting', label: 'Pending' }],
  [
    { Ready: 'False', Reason: 'PoolStarting', Message: 'No runner.' },
    {},
    { kind: 'waiting', label: 'Pool starting', message: 'No runner.' },
  ],
  [
    {
      Ready: 'False',
      Reason: 'CredentialNotReady',
      Message:
        'a: Credential x is not ready (NotConnected): Not connected. To connect it, POST to http://gateway/x with a Kubernetes token, and open the link in the response.',
    },
    {},
    {
      kind: 'attention',
      label: 'Credential not ready',
      message: 'a: Credential x is not ready (NotConnected): Not connected. Click Connect at the credential.',
    },
  ],
  [
    { Ready: 'False', Reason: 'CredentialMissing', Message: 'There is no x.' },
    {},
    { kind: 'attention', label: 'Credential missing', message: 'There is no x.' },
  ],
  [
    {
      Ready: 'False',
      Stalled: 'True',
      Reason: 'UnreachableStep',
      Message: 'node a: the group has no body: set within: a',
    },
    {},
    { kind: 'attention', label: 'Empty group', message: 'a: the group has no nodes: add the first one' },
  ],
  [
    { Ready: 'False', Stalled: 'True', Reason: 'InvalidExpression', Message: KEPT },
    {},
    {
      kind: 'attention',
      label: 'Published version not live',
      isServed: true,
      message: 'a: there is no b. Until then, events run the earlier version orders-abc.',
    },
  ],
  [{ Reason: 'Inactive', Stalled: 'True' }, {}, { kind: 'attention', label: 'Needs attention' }],
  [{}, { deletionTimestamp: '2026-01-05T09:30:00Z' }, { kind: 'leaving', label: 'Being deleted' }],
])('cells %j of %j result in the state %j', (cells, metadata, state) => {
  expect(itemOf(row('a', cells, metadata)).state).toEqual(state);
});

test('an item says whether the workflow is suspended and whether its webhook is public', () => {
  expect(itemOf(row('a'))).toMatchObject({ suspended: false, isPublic: false });
  expect(itemOf(row('a', { Access: 'bearer' }))).toMatchObject({ isPublic: false });
  const cells = { Suspended: true, Access: 'Public' };
  expect(itemOf(row('a', cells))).toMatchObject({ suspended: true, isPublic: true });
});

test('a draft that only keeps pins changes no workflow', () => {
  const annotations = { 'windlass.dev/pins-only': 'true' };
  expect(changedBy([row('orders'), row('pinned', {}, { annotations })])).toEqual(new Set(['orders']));
});

test.each([
  ['CredentialMissing', 'Credential missing'],
  ['Unreachable', 'Unreachable'],
])('%s is shown as %s', (reason, words) => {
  expect(reasonLabel(reason)).toBe(words);
});

test.each([
  [0, 0, undefined],
  [10, 0, '100%'],
  [0, 3, '0%'],
  [999, 1, '99%'],
  [1, 999, '1%'],
  [2, 1, '67%'],
])('%i succeeded and %i failed runs have a rate of %s', (succeeded, failed, text) => {
  const rate = successRate({ succeeded, failed });
  expect(rate === undefined ? undefined : rateText(rate)).toBe(text);
});

const items = [
  itemOf(
    row('b', {
      'Display name': 'Orders 10',
      'Last accepted': '2026-01-02T00:00:00Z',
      Succeeded: 1,
      Failed: 1,
    }),
  ),
  itemOf(
    row(
      'a',
      { 'Display name': 'orders 2', Active: false, Reason: 'Inactive', Trigger: 'mail' },
      { labels: { team: 'billing' } },
    ),
  ),
  itemOf(
    row('c', {
      'Last accepted': '2026-01-03T00:00:00Z',
      Ready: 'False',
      Stalled: 'True',
      Suspended: true,
      Succeeded: 1,
    }),
  ),
];
const names = (list: typeof items) => list.map(({ name }) => name).join('');

test.each([
  [{}, 'bac'],
  [{ text: ' ORDERS ' }, 'ba'],
  [{ text: 'orders 10' }, 'b'],
  [{ text: 'c' }, 'c'],
  [{ state: 'inactive' as const }, 'a'],
  [{ state: 'attention' as const }, 'c'],
  [{ state: 'suspended' as const }, 'c'],
  [{ trigger: 'mail' as const }, 'a'],
  [{ label: 'team=billing' }, 'a'],
  [{ label: 'team=sales' }, ''],
  [{ text: 'BILLING orders' }, 'a'],
  [{ active: 'on' as const }, 'bc'],
  [{ active: 'off' as const, text: 'zzz' }, ''],
])('the filter %j matches %s', (filter, expected) => {
  expect(names(filtered(items, { ...NO_FILTER, ...filter }))).toBe(expected);
});

test.each<[SortKey, boolean, string]>([
  ['title', false, 'cab'],
  ['title', true, 'bac'],
  ['state', false, 'cba'],
  ['trigger', false, 'acb'],
  ['lastRun', true, 'cba'],
  ['lastRun', false, 'bca'],
  ['rate', true, 'cba'],
])('sorted by %s (descending: %s) the order is %s', (key, descending, expected) => {
  expect(names(sorted(items, { key, descending }))).toBe(expected);
});
