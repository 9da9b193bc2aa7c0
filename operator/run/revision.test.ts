import { expect, test } from 'vitest';
import { ANNOTATION } from '../../api/group.ts';
import type { RunSpec } from '../../api/run.ts';
import type { ControllerRevision, OwnerReference } from '../../kube/resource.ts';
import { chooseRevision } from './revision.ts';

const route = { revision: 'orders-2', workflowUID: 'uid-orders', active: true };
const OWNER: OwnerReference = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  name: 'orders',
  uid: 'uid-orders',
  controller: true,
};

type Given = { name?: string; owner?: Partial<OwnerReference>; activated?: boolean };

function revision({ name = 'orders-1', owner = {}, activated = false }: Given = {}): ControllerRevision {
  const annotations = { [ANNOTATION.activated]: '2026-01-01T00:00:00.000Z' };
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, ownerReferences: [{ ...OWNER, ...owner }], ...(activated && { annotations }) },
    revision: 1,
    data: {},
  };
}

const asked = { revision: 'orders-1' };

test.each<[string, Partial<RunSpec>, ControllerRevision | undefined, Partial<typeof route>, string]>([
  ['names none, and takes the current one', {}, revision({ name: 'orders-2' }), {}, 'orders-2'],
  ['names the current one', { revision: 'orders-2' }, revision({ name: 'orders-2' }), {}, 'orders-2'],
  ['names one that was activated', asked, revision({ activated: true }), {}, 'orders-1'],
  ['names one that was never activated', asked, revision(), {}, 'RevisionNotActivated'],
  [
    'names that of an inactive workflow',
    { revision: 'orders-2' },
    revision({ name: 'orders-2' }),
    { active: false },
    'RevisionNotActivated',
  ],
  ['is a test of one that was never activated', { ...asked, test: true }, revision(), {}, 'orders-1'],
  ['names one that does not exist', asked, undefined, {}, 'RevisionMissing'],
  [
    'names one of another workflow',
    { ...asked, test: true },
    revision({ owner: { uid: 'other' }, activated: true }),
    {},
    'RevisionMissing',
  ],
  [
    'names one that somebody made with the uid of the workflow and an owner of another group',
    { ...asked, test: true },
    revision({ owner: { apiVersion: 'v1', kind: 'ConfigMap' }, activated: true }),
    {},
    'RevisionMissing',
  ],
  [
    'names one that the workflow owns without controlling it',
    { ...asked, test: true },
    revision({ owner: { controller: false }, activated: true }),
    {},
    'RevisionMissing',
  ],
])('a run that %s', (_what, spec, object, changes, expected) => {
  const chosen = chooseRevision({ spec: { workflow: 'orders', ...spec } }, { ...route, ...changes }, object);
  expect('reason' in chosen ? chosen.reason : chosen.revision.name).toBe(expected);
});

test('a refusal says what to do', () => {
  expect(chooseRevision({ spec: { workflow: 'orders', ...asked } }, route, revision())).toMatchObject({
    message:
      'Revision orders-1 of workflow orders was never activated: leave spec.revision out to run the current one, or create a test run with spec.test: true.',
  });
});
