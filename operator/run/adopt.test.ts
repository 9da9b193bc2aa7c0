import { expect, test } from 'vitest';
import type { Workflow, WorkflowRun } from '../../api/kinds.ts';
import { adoptionOf } from './adopt.ts';

const workflow = { metadata: { name: 'orders', namespace: 'shop', uid: 'uid-1' } } as Workflow;
const own = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', name: 'orders', uid: 'uid-1' };
const labels = { 'windlass.dev/workflow': 'orders', 'windlass.dev/trigger': 'execute' };

function run(metadata: object, spec: object = {}): WorkflowRun {
  return { metadata: { name: 'one', ...metadata }, spec: { workflow: 'orders', ...spec } } as WorkflowRun;
}

test('a run that somebody created gets the labels of records and its workflow as owner', () => {
  expect(adoptionOf(run({}), workflow)).toEqual({ labels, ownerReferences: [{ ...own, controller: true }] });
});

test('a test run is labelled as that, and a run with a trigger with its kind', () => {
  const made = run({}, { test: true, trigger: { type: 'webhook' } });
  expect(adoptionOf(made, workflow)?.labels).toEqual({
    'windlass.dev/workflow': 'orders',
    'windlass.dev/trigger': 'webhook',
    'windlass.dev/test': 'true',
  });
});

test('labels and owners of others stay, and a second controller is none', () => {
  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b', controller: true };
  const made = run({ labels: { team: 'a', 'windlass.dev/workflow': 'wrong' }, ownerReferences: [other] });
  expect(adoptionOf(made, workflow)).toEqual({
    labels: { team: 'a', ...labels },
    ownerReferences: [other, { ...own, controller: false }],
  });
});

test('a run that lacks nothing is not written', () => {
  expect(adoptionOf(run({ labels, ownerReferences: [own] }), workflow)).toBeUndefined();
});

test.each(['nightly job', 'cron/nightly', 'käse', '-x', 'x-', 'a'.repeat(64)])(
  'a run whose trigger type %j is no label value gets all labels but that of the trigger',
  (type) => {
    const made = run({ labels: { 'windlass.dev/trigger': 'of-a-person' } }, { trigger: { type } });
    const adopted = { 'windlass.dev/trigger': 'of-a-person', 'windlass.dev/workflow': 'orders' };
    expect(adoptionOf(made, workflow)).toEqual({
      labels: adopted,
      ownerReferences: [{ ...own, controller: true }],
    });
    expect(adoptionOf(run({ labels: adopted, ownerReferences: [own] }, made.spec), workflow)).toBeUndefined();
  },
);

test.each(['', 'a', 'A.b_c-9', 'a'.repeat(63)])('the trigger type %j is a label value', (type) => {
  expect(adoptionOf(run({}, { trigger: { type } }), workflow)?.labels).toEqual({
    ...labels,
    'windlass.dev/trigger': type,
  });
});

test('a run of an Evaluation gets the labels, and no other owner that would keep it', () => {
  const evaluation = { apiVersion: own.apiVersion, kind: 'Evaluation', name: 'e', uid: 'e' };
  const made = run({ ownerReferences: [evaluation] }, { test: true });
  expect(adoptionOf(made, workflow)).toEqual({
    labels: { ...labels, 'windlass.dev/test': 'true' },
    ownerReferences: [evaluation],
  });
});
