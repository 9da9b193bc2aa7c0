import { expect, test } from 'vitest';
import { ANNOTATION } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { revisionOf } from '../../api/revision.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { RunSpec, RunStatus } from '../../api/run.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { lostReference } from './lostData.ts';
import { planRestore, recordedNode } from './restorePlan.ts';

const spec: WorkflowSpec = {
  nodes: [
    { id: 'trigger', webhook: { path: 'orders' } },
    { id: 'text', response: { body: "{{ $('trigger').text_content }}" } },
    { id: 'data', response: { body: "{{ $('trigger').data_content.a }} {{ $('text').data_content }}" } },
    { id: 'headers', response: { body: "{{ $('trigger').headers.x }}" } },
    { id: 'set', skill: { name: 'set', parameters: { values: { a: 'nodes.data.data_content' } } } },
    { id: 'last', response: { body: '{{ $previous.text_content }}' } },
  ],
  edges: [
    { from: 'trigger', to: 'text' },
    { from: 'text', to: 'data' },
    { from: 'data', to: 'headers' },
    { from: 'headers', to: 'set' },
    { from: 'set', to: 'last', when: 'nodes.headers.text_content == "x"' },
  ],
} as unknown as WorkflowSpec;
const revision = revisionOf(spec);
const steps = ['trigger', 'text', 'data', 'headers', 'set', 'last'];

type Given = { spec?: Partial<RunSpec>; status?: Partial<RunStatus>; annotations?: Record<string, string> };

function runOf({ spec: given, status, annotations = {} }: Given): WorkflowRun {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: {
      name: 'one',
      uid: 'uid-one',
      annotations: { [ANNOTATION.recorded]: 'earlier', ...annotations },
    },
    spec: { workflow: 'orders', input: { text_content: 't', data_content: { a: 1 } }, ...given },
    status: { phase: 'Running', epoch: 3, sequence: 4, ...status },
  };
}

/** The nodes up to the one named have ended; those in `cut` are not all in the record. */
function upTo(last: string, cut: Record<string, unknown> = {}): NodeStatus[] {
  return steps.slice(0, steps.indexOf(last) + 1).map((id) => ({
    id,
    phase: 'Succeeded',
    output: { text_content: 'o', data_content: (cut[id] ?? null) as NodeStatus['output'] },
    ...(id in cut && { truncated: true }),
  }));
}

const lost = (nodes: NodeStatus[], given: Given = {}) =>
  lostReference(runOf({ ...given, status: { nodes } }), revision);

test.each<[string, string | undefined, string | undefined]>([
  ['nothing was cut', lost(upTo('trigger')), undefined],
  [
    'a text that a step still needs was cut',
    lost(upTo('trigger', { trigger: { a: 1 } })),
    "$('trigger').text_content",
  ],
  ['only the text was cut, and the data is needed', lost(upTo('text', { trigger: { a: 1 } })), undefined],
  ['the data was cut', lost(upTo('text', { text: undefined })), "$('text').data_content"],
  ['what was cut is needed no more', lost(upTo('data', { text: undefined })), undefined],
  ['an expression in CEL needs it', lost(upTo('headers', { data: undefined })), 'nodes.data'],
  ['the condition of an edge needs it', lost(upTo('set', { headers: undefined })), 'nodes.headers'],
  ['the step after it reads the node before', lost(upTo('set', { set: undefined })), "$('set').text_content"],
  ['all has ended', lost(upTo('last', { headers: undefined })), undefined],
])('%s', (_what, found, expected) => {
  expect(found).toBe(expected);
});

test('headers are never recorded, and an input that was cut is known as such before a node was recorded', () => {
  const annotations = { [ANNOTATION.partialInput]: 'true' };
  expect(lost(upTo('data'), { annotations })).toBe("$('trigger').headers.x");
  expect(lost(upTo('headers'), { annotations })).toBeUndefined();
  expect(lost([], { spec: { inputTruncated: true } })).toBe("$('trigger').text_content");
});

const found = {
  workflowUid: 'uid-orders',
  madeFor: 'uid-orders',
  revision: { name: 'orders-1', revision },
  input: '{"text_content":"t","data_content":{"a":1}}',
};

function withoutStatus({ status: _status, ...run }: WorkflowRun): WorkflowRun {
  return run;
}

test.each<[string, WorkflowRun, Partial<typeof found>, object]>([
  ['that has ended', runOf({ status: { phase: 'Failed' } }), {}, { kind: 'leave' }],
  ['of a workflow that is gone', runOf({}), { workflowUid: 'another' }, { ending: { phase: 'Cancelled' } }],
  ['that shall be cancelled', runOf({ spec: { cancel: true } }), {}, { ending: { phase: 'Cancelled' } }],
  [
    'of which only the creation was recorded',
    withoutStatus(runOf({})),
    {},
    { kind: 'end', ending: { phase: 'Failed', reason: 'DataLost' } },
  ],
  [
    'that goes on',
    runOf({ status: { nodes: upTo('last') } }),
    {},
    { kind: 'restore', run: { epoch: 3, sequence: 4 } },
  ],
])('a run %s', (_what, run, changes, expected) => {
  expect(planRestore(run, { ...found, ...changes })).toMatchObject(expected);
});

test('a child run whose parent has ended is cancelled, but not an object of a user that names a parent', () => {
  const run = runOf({ spec: { parent: { run: 'gone', node: 'call' } }, status: { nodes: upTo('text') } });
  const orphan = { ...found, isOrphan: true };
  expect(planRestore(run, orphan)).toMatchObject({ kind: 'end', ending: { phase: 'Cancelled' } });
  const own = { ...run, metadata: { ...run.metadata, annotations: {} } };
  expect(planRestore(own, orphan)).toMatchObject({ kind: 'restore' });
});

test('a test run goes no further than before', () => {
  const run = runOf({
    spec: { test: true, until: 'data', requestedBy: 'ada' },
    status: { nodes: upTo('text') },
  });
  expect(planRestore(run, { ...found, until: 'data' })).toMatchObject({
    run: { test: true, until: 'data', requestedBy: 'ada' },
  });
});

test('a restored test run has its mocks', () => {
  const testing = { mocks: [{ node: 'mail', real: true }] };
  const run = runOf({ spec: { test: true }, status: { nodes: upTo('text') } });
  expect(planRestore(run, { ...found, testing })).toMatchObject({ run: { testing } });
});

test('time runs on from its start, but for a run that had waited, of which nobody knows how long', () => {
  const startTime = '2026-01-01T00:00:00.000Z';
  const planned = (nodes: NodeStatus[]) => planRestore(runOf({ status: { nodes, startTime } }), found);
  const deadlineAt = Date.parse(startTime) + revision.timeoutMs;
  expect(planned(upTo('last'))).toMatchObject({ run: { deadlineAt } });
  const again = upTo('last').map((node) => ({ ...node, attempts: 2 }));
  expect(planned(again)).not.toHaveProperty('run.deadlineAt');
});

test('a record of which only the creation was written is never executed, since nobody knows which nodes ran', () => {
  const run = runOf({ status: { phase: 'Running', epoch: undefined } });
  const found = { workflowUid: 'w', madeFor: 'w', revision: { name: 'r', revision }, input: '{}' };
  expect(planRestore(run, found)).toMatchObject({ kind: 'end', ending: { reason: 'DataLost' } });
});

test.each<[string, Partial<RunStatus>, number | undefined]>([
  ['that ran', { phase: 'Running' }, undefined],
  [
    'of which a branch waited',
    { nodes: [{ id: 'data', phase: 'Waiting', nextAttemptTime: '2026-01-01T00:00:09.000Z' }] },
    undefined,
  ],
  [
    'that only waited',
    {
      phase: 'Waiting',
      nodes: [
        { id: 'text', phase: 'Succeeded', output: { text_content: '', data_content: null } },
        { id: 'data', phase: 'Waiting', nextAttemptTime: '2026-01-01T00:00:09.000Z' },
        { id: 'set', phase: 'Waiting', nextAttemptTime: '2026-01-01T00:00:08.000Z' },
      ],
    },
    Date.parse('2026-01-01T00:00:08.000Z'),
  ],
  [
    'that waits beside a loop, whose items may have begun at any time',
    {
      phase: 'Waiting',
      nodes: [
        { id: 'text', phase: 'Running', items: { total: 3, succeeded: 0, failed: 0, running: 1 } },
        { id: 'data', phase: 'Waiting', nextAttemptTime: '2026-01-01T00:00:09.000Z' },
      ],
    },
    undefined,
  ],
])('of a run %s it is known until when nothing of it can have begun', (_what, status, until) => {
  const found = { workflowUid: 'w', madeFor: 'w', revision: { name: 'r', revision }, input: '{}' };
  const plan = planRestore(runOf({ status }), found);
  expect(plan.kind === 'restore' && plan.run.idleUntil).toBe(until);
});

test('a wait node continues to wait until the same time, and its run has waited', () => {
  const waiting = revisionOf({
    nodes: [
      { id: 'trigger', webhook: { path: 'orders' } },
      { id: 'pause', wait: { duration: '2h' } },
      { id: 'each', group: {} },
      { id: 'rest', within: 'each', wait: { duration: '2h' } },
    ],
  } as unknown as WorkflowSpec);
  const startTime = '2026-01-01T00:00:00.000Z';
  const planned = (phase: RunStatus['phase'], node: NodeStatus) =>
    planRestore(runOf({ status: { phase, startTime, nodes: [node] } }), {
      ...found,
      revision: { name: 'orders-2', revision: waiting },
    });
  const until = '2026-01-01T02:00:00.000Z';
  const nextAttemptAt = Date.parse(until);
  const pause: NodeStatus = { id: 'pause', phase: 'Waiting', attempts: 1, startTime, waitingFor: { until } };
  const node = { id: 'pause', phase: 'Waiting', nextAttemptAt, waitingFor: { time: true } };
  const plan = planned('Waiting', pause);
  expect(plan).toMatchObject({ run: { idleUntil: nextAttemptAt, nodes: [node] } });
  expect(plan).not.toHaveProperty('run.deadlineAt');
  const ended = { phase: 'Succeeded', completionTime: until } as const;
  expect(planned('Running', { ...pause, ...ended })).not.toHaveProperty('run.deadlineAt');
  expect(planned('Running', { ...pause, id: 'each', phase: 'Running' })).not.toHaveProperty('run.deadlineAt');
});

test('a run whose record is in doubt is restored in doubt, also if it only waits', () => {
  const until = '2026-01-01T02:00:00.000Z';
  const pause: NodeStatus = { id: 'text', phase: 'Waiting', attempts: 1, waitingFor: { until } };
  const status: RunStatus = { phase: 'Waiting', nodes: [pause] };
  const planned = (more: RunStatus) => planRestore(runOf({ status: { ...status, ...more } }), found);
  expect(planned({ inDoubt: true })).toMatchObject({
    run: { isInDoubt: true, idleUntil: Date.parse(until) },
  });
  expect(planned({})).not.toHaveProperty('run.isInDoubt');
});

test('a restored run has used what its record says, so that its budget holds', () => {
  const usage = { tokens: 120, estimatedTokens: 20, cost: '0.000053', currency: 'EUR' };
  const status: RunStatus = { phase: 'Running', nodes: upTo('trigger') };
  expect(planRestore(runOf({ status: { ...status, usage } }), found)).toMatchObject({
    run: { usage: { tokens: 120, estimated: 20, cost: 53_000, currency: 'EUR' } },
  });
  expect(planRestore(runOf({ status }), found)).not.toHaveProperty('run.usage');
});

test('a node continues to wait for a callback, and the nodes after it are in doubt', () => {
  const status: RunStatus = {
    phase: 'Waiting',
    nodes: [
      {
        id: 'text',
        phase: 'Waiting',
        attempts: 1,
        waitingFor: { callback: { until: '2026-01-01T02:00:00.000Z' } },
      },
    ],
  };
  const plan = planRestore(runOf({ status }), found);
  const nextAttemptAt = Date.parse('2026-01-01T02:00:00.000Z');
  expect(plan).toMatchObject({
    run: { nodes: [{ id: 'text', phase: 'Waiting', nextAttemptAt, waitingFor: { callback: true } }] },
  });
  expect(plan).not.toHaveProperty('run.idleUntil');
});

test('a run that waits for the memory of an agent may have got it since its record', () => {
  const until = '2026-01-01T02:00:00.000Z';
  const node: NodeStatus = { id: 'text', phase: 'Waiting', attempts: 0, waitingFor: { memory: { until } } };
  const nextAttemptAt = Date.parse(until);
  const plan = planRestore(runOf({ status: { phase: 'Waiting', nodes: [node] } }), found);
  expect(plan).toMatchObject({
    run: { nodes: [{ id: 'text', phase: 'Waiting', nextAttemptAt, waitingFor: { memory: true } }] },
  });
  expect(plan).not.toHaveProperty('run.idleUntil');
});

test('an agent that has ended is restored with its counts, and its transcript with usage and child runs', () => {
  const counts = { inputTokens: 3, outputTokens: 5 };
  const entries = [
    { role: 'Assistant' as const, text: 'ok', usage: counts },
    { role: 'Tool' as const, text: 'paid', tool: 'refund', arguments: '{}', run: 'refund-1' },
  ];
  const agent = { answers: 1, toolCalls: 1 };
  const node: NodeStatus = { id: 'text', phase: 'Failed', attempts: 1, agent, transcript: { entries } };
  expect(recordedNode(node, revision)).toMatchObject({ agent, transcript: { omitted: 0, entries } });
});

test('what a node sent, and what its failed reference found, is restored', () => {
  const shown = {
    sent: { parameters: { to: 'ada' }, truncated: true },
    missing: { reference: '$vars.a', at: '$vars', type: 'object' as const, size: 0, keys: [] },
  };
  const node: NodeStatus = { id: 'text', phase: 'Failed', attempts: 1, ...shown };
  expect(recordedNode(node, revision)).toMatchObject(shown);
});

test('a restored run has the digits that the API server rounded', () => {
  const digits = '12345678901234567890';
  const nodes = upTo('text', { text: { id: Number(digits) } });
  const text = nodes[1] as NodeStatus;
  Object.assign(text, {
    truncated: false,
    output: { ...text.output, exact: { '/data_content/id': digits } },
  });
  const plan = planRestore(runOf({ status: { nodes } }), found);
  expect(JSON.stringify(plan)).toContain(`"data_content":{"id":${digits}}`);
});

const LOOP = revisionOf({
  nodes: [
    { id: 'trigger', webhook: { path: 'orders' } },
    { id: 'each', group: {}, forEach: { items: "{{ $('trigger').data_content.items }}" } },
    { id: 'first', within: 'each', response: { body: '{{ $previous.text_content }}' } },
    { id: 'next', within: 'each', response: { body: "{{ $('first').text_content }}" } },
  ],
} as unknown as WorkflowSpec);
const COUNTS = { total: 3, succeeded: 1, failed: 0, running: 1, ended: 'AQ==' };

test('a loop in progress is restored with its counts, and with a mark that says that its items are lost', () => {
  const nodes: NodeStatus[] = [
    { id: 'trigger', phase: 'Succeeded' },
    { id: 'each', phase: 'Running', attempts: 1, items: COUNTS },
    { id: 'first', phase: 'Succeeded', attempts: 1, item: 0 },
  ];
  const plan = planRestore(runOf({ status: { nodes } }), {
    ...found,
    revision: { name: 'orders-1', revision: LOOP },
  });
  expect(plan).toMatchObject({
    kind: 'restore',
    run: {
      nodes: [
        { id: 'trigger' },
        { id: 'each', items: { ...COUNTS, failures: [] }, mark: { attempt: 1, atMostOnce: false } },
        { id: 'first', item: 0 },
      ],
    },
  });
});

test('a run whose loop in progress lost its array is lost', () => {
  const nodes: NodeStatus[] = [
    { id: 'trigger', phase: 'Succeeded', truncated: true },
    { id: 'each', phase: 'Running' },
  ];
  const run = runOf({ spec: { input: { text_content: 't', data_content: null } }, status: { nodes } });
  expect(lostReference(run, LOOP)).toBe("$('trigger').data_content.items");
});

test.each<[string, NodeStatus[], string | undefined]>([
  [
    'the first node of a body reads the node before the group',
    [
      { id: 'trigger', phase: 'Succeeded', truncated: true, output: { data_content: {} } },
      { id: 'each', phase: 'Running' },
      { id: 'first', phase: 'Succeeded', item: 0 },
    ],
    "$('trigger').text_content",
  ],
  [
    'an output of the body was cut, which is computed again',
    [
      { id: 'trigger', phase: 'Succeeded' },
      { id: 'each', phase: 'Running' },
      { id: 'first', phase: 'Succeeded', truncated: true, item: 0 },
    ],
    undefined,
  ],
  [
    'the loop has ended',
    [
      { id: 'trigger', phase: 'Succeeded', truncated: true },
      { id: 'each', phase: 'Succeeded' },
    ],
    undefined,
  ],
])('of a loop: %s', (_what, nodes, expected) => {
  expect(lostReference(runOf({ status: { nodes } }), LOOP)).toBe(expected);
});

const ancestors = { group: 'uid-parent', root: 'root', path: ['shop', 'orders'], waits: true };
const child: Given = {
  spec: { parent: { run: 'parent', node: 'call' } },
  annotations: { [ANNOTATION.ancestors]: JSON.stringify(ancestors) },
};

test('a restored child run keeps its parent, unless that has ended', () => {
  const found = { workflowUid: 'w', madeFor: 'w', revision: { name: 'r', revision }, input: '{}' };
  const parent = { run: 'parent', node: 'call', ...ancestors };
  expect(planRestore(runOf(child), found)).toMatchObject({ kind: 'restore', run: { parent } });
  const isOrphan = true;
  expect(planRestore(runOf(child), { ...found, isOrphan })).toMatchObject({
    kind: 'end',
    ending: {
      phase: 'Cancelled',
      message: expect.stringContaining('The parent of the run, parent, has ended'),
    },
  });
});

test('a restored parent knows the child that it waits for, and is in doubt about what followed', () => {
  const nodes: NodeStatus[] = [{ id: 'text', phase: 'Waiting', attempts: 1, run: 'child' }];
  const run = runOf({ status: { phase: 'Waiting', nodes } });
  const found = { workflowUid: 'w', madeFor: 'w', revision: { name: 'r', revision }, input: '{}' };
  const plan = planRestore(run, found);
  expect(plan).toMatchObject({ kind: 'restore', run: { nodes: [{ id: 'text', run: 'child' }] } });
  expect(plan.kind === 'restore' && plan.run.idleUntil).toBeUndefined();
});
