import { expect, test } from 'vitest';
import { appliersOf, appliersWithoutEdges, whoChanged } from './owners.ts';

const entry = (manager: string, time: string, fields: object, more: object = {}) => ({
  manager,
  time,
  operation: 'Update',
  fieldsV1: { 'f:spec': fields },
  ...more,
});
const active = { 'f:active': {} };

test.each([
  [[entry('kubectl-edit', '2026-01-02T00:00:00Z', active)], 'Someone with kubectl'],
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

const edges = [{ from: 'trigger', to: 'reply' }];
const applied = (spec: object) => ({
  'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec }),
});
const kubectl = [entry('kubectl-client-side-apply', '', active)];

test.each([
  ['before edges are saved', kubectl, undefined, undefined, ['kubectl-client-side-apply']],
  ['after edges are saved', kubectl, applied({ nodes: [] }), edges, ['kubectl-client-side-apply']],
  ['not if the manifest has edges', kubectl, applied({ edges: [] }), edges, []],
  ['not if nobody applied a manifest', [entry('kubectl-create', '', active)], undefined, undefined, []],
  ['before edges are saved', [entry('ci', '', active, { operation: 'Apply' })], undefined, undefined, ['ci']],
])('%s, the next apply of a manifest is refused', (_what, managedFields, annotations, saved, appliers) => {
  const metadata = { name: 'orders', managedFields, ...(annotations && { annotations }) };
  expect(appliersWithoutEdges(metadata, saved ? { edges: saved } : {}, { edges })).toEqual(appliers);
  expect(appliersWithoutEdges(metadata, saved ? { edges: saved } : {}, {})).toEqual([]);
});
