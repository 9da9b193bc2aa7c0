import { expect, test } from 'vitest';
import { appliersOf, whoChanged } from './owners.ts';

const entry = (manager: string, time: string, fields: object, more: object = {}) => ({
  manager,
  time,
  operation: 'Update',
  fieldsV1: { 'f:spec': fields },
  ...more,
});
const active = { 'f:active': {} };

test.each([
  [[entry('kubectl-edit', '2026-01-02T00:00:00Z', active)], 'kubectl-edit'],
  [
    [entry('kubectl', '2026-01-01T00:00:00Z', {}), entry('windlass-console', '2026-01-02T00:00:00Z', {})],
    'Someone in the console',
  ],
  [
    [
      entry('helm', '2026-01-01T00:00:00Z', {}),
      entry('windlass-operator', '2026-01-03T00:00:00Z', {}, { subresource: 'status' }),
    ],
    'helm',
  ],
  [[], 'Someone'],
])('the last writer of %j is %s', (managedFields, who) => {
  expect(whoChanged({ metadata: { name: 'orders', managedFields } })).toBe(who);
});

test.each([
  ['who applied it', [entry('flux', '', active, { operation: 'Apply' })], ['flux']],
  ['not who edited it once', [entry('kubectl-edit', '', active)], []],
  [
    'who applies on the client',
    [entry('kubectl-client-side-apply', '', active)],
    ['kubectl-client-side-apply'],
  ],
  ['not who applied other fields', [entry('flux', '', { 'f:nodes': {} }, { operation: 'Apply' })], []],
  ['never the console itself', [entry('windlass-console', '', active, { operation: 'Apply' })], []],
])('the field is applied by %s', (_what, managedFields, owners) => {
  expect(appliersOf({ name: 'orders', managedFields }, ['spec', 'active'])).toEqual(owners);
});
