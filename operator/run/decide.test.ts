import { expect, test } from 'vitest';
import { ANNOTATION } from '../../api/group.ts';
import type { WebhookRoute, Workflow, WorkflowRun } from '../../api/kinds.ts';
import { revisionOf } from '../../api/revision.ts';
import { decide, INVALID_PATIENCE_MS, isNew, isToBeCancelled, PATIENCE_MS } from './decide.ts';
import { inputOf } from './input.ts';

const base = { apiVersion: 'windlass.dev/v1alpha1' } as const;

function run(spec: Partial<WorkflowRun['spec']> = {}, more: Partial<WorkflowRun> = {}): WorkflowRun {
  return {
    ...base,
    kind: 'WorkflowRun',
    metadata: { name: 'r1' },
    spec: { workflow: 'orders', ...spec },
    ...more,
  };
}

function workflow(active: boolean, suspend = false): Workflow {
  const spec = { active, suspend, nodes: [{ id: 't', manual: {} }] };
  return { ...base, kind: 'Workflow', metadata: { name: 'orders', uid: 'w1' }, spec };
}

/** The first generation was found invalid. */
function invalid(generation: number): Workflow {
  const time = { lastTransitionTime: '2026-01-01T00:00:00Z', message: 'No.' };
  const valid = { type: 'Valid', status: 'False' as const, reason: 'No', observedGeneration: 1, ...time };
  const { metadata, ...rest } = workflow(true);
  return { ...rest, metadata: { ...metadata, generation }, status: { conditions: [valid] } };
}

function route(active: boolean, workflowUID = 'w1', suspended = false): WebhookRoute {
  const spec = {
    workflow: 'orders',
    workflowUID,
    projectUID: 'p1',
    revision: 'orders-1',
    trigger: 'manual',
    active,
    suspended,
  };
  return { ...base, kind: 'WebhookRoute', metadata: { name: 'orders' }, spec };
}

const cases: [sentence: string, decided: ReturnType<typeof decide>, expected: object][] = [
  ['of an active workflow', decide(run(), workflow(true), route(true), 0), { kind: 'submit' }],
  [
    'that is a test of an inactive one',
    decide(run({ test: true }), workflow(false), route(false), 0),
    { kind: 'submit' },
  ],
  [
    'of an inactive one',
    decide(run(), workflow(false), route(false), 0),
    { kind: 'fail', reason: 'WorkflowInactive' },
  ],
  [
    'of a suspended one',
    decide(run(), workflow(true, true), route(true), 0),
    { kind: 'fail', reason: 'Suspended' },
  ],
  [
    'that is a test of a suspended one',
    decide(run({ test: true }), workflow(true, true), route(true), 0),
    { kind: 'fail', reason: 'Suspended' },
  ],
  [
    'that is a test of one that is just being resumed',
    decide(run({ test: true }), workflow(true), route(false, 'w1', true), 0),
    { kind: 'wait' },
  ],
  ['of one that is just being switched on', decide(run(), workflow(true), route(false), 0), { kind: 'wait' }],
  [
    'whose workflow is not there yet',
    decide(run(), undefined, undefined, 0),
    { kind: 'wait', reason: 'WorkflowMissing' },
  ],
  [
    'whose workflow never came',
    decide(run(), undefined, undefined, PATIENCE_MS),
    { kind: 'fail', reason: 'WorkflowMissing' },
  ],
  [
    'of one that is invalid, and may be corrected by the same manifest',
    decide(run(), invalid(1), undefined, 0),
    { kind: 'wait', reason: 'WorkflowInvalid', message: expect.stringContaining('not in effect (No)') },
  ],
  [
    'of one that stays invalid',
    decide(run(), invalid(1), undefined, INVALID_PATIENCE_MS),
    { kind: 'fail', reason: 'WorkflowInvalid', message: expect.stringContaining('not in effect (No)') },
  ],
  [
    'of one that was mended and not reconciled since',
    decide(run(), invalid(2), undefined, PATIENCE_MS),
    { kind: 'wait' },
  ],
  [
    'of one that was not reconciled yet',
    decide(run(), workflow(true), undefined, PATIENCE_MS),
    { kind: 'wait' },
  ],
  [
    'of one that was deleted and made again',
    decide(run(), workflow(true), route(true, 'w0'), 0),
    { kind: 'wait' },
  ],
];

test.each(cases)('a run %s', (_sentence, decided, expected) => {
  expect(decided).toMatchObject(expected);
});

test('a run is new until somebody records it', () => {
  expect(isNew(run())).toBe(true);
  expect(isNew(run({}, { status: { phase: 'Pending' } }))).toBe(true);
  expect(isNew(run({}, { status: { phase: 'Pending', sequence: 0 } }))).toBe(false);
  expect(isNew(run({}, { status: { phase: 'Running' } }))).toBe(false);
  expect(isNew(run({}, { metadata: { name: 'r1', annotations: { [ANNOTATION.recorded]: 'store' } } }))).toBe(
    false,
  );
});

test('an ended run is not cancelled any more', () => {
  expect(isToBeCancelled(run({ cancel: true }))).toBe(true);
  expect(isToBeCancelled(run({ cancel: true }, { status: { phase: 'Succeeded' } }))).toBe(false);
});

const revision = revisionOf({ active: true, nodes: [{ id: 't', manual: { testData: { a: 1 } } }] });

test.each([
  [
    'what it brings',
    run({ input: { text_content: 'hi', data_content: [1] } }),
    { text_content: 'hi', data_content: [1] },
  ],
  ['null as it is', run({ input: { data_content: null } }), { text_content: '', data_content: null }],
  [
    'the test data, in a test run without input',
    run({ test: true }),
    { text_content: '', data_content: { a: 1 } },
  ],
  ['an empty object, without input', run(), { text_content: '', data_content: {} }],
])('the input of a run is %s', (_sentence, run, expected) => {
  expect(JSON.parse(inputOf(run, revision))).toEqual(expected);
});
