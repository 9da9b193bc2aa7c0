import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import { draftOf } from './draft.ts';

const workflow: Workflow = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'orders', uid: 'uid' },
  spec: { active: true, suspend: true, timeout: '5m', nodes: [{ id: 'start', webhook: { path: 'a' } }] },
};

test('a draft takes the place of the whole spec, and is never active', () => {
  const nodes = [{ id: 'start', manual: {} }];
  expect(draftOf(workflow, { nodes })).toEqual({ ...workflow, spec: { nodes, active: false } });
});
