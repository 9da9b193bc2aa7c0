import { expect, test } from 'vitest';
import { revisionOf, type Revision } from '../api/revision.ts';
import type { WorkflowSpec } from '../api/workflow.ts';
import type { NodeState, RunState } from '../runs/types.ts';
import {
  awaitRetry,
  endNode,
  endWait,
  openMemory,
  refuseOutputs,
  release,
  succeed,
  waitsOf,
  type Memory,
} from './memory.ts';
import { planOf } from './plan.ts';
import { takeTurn } from './turn.ts';

const NOW = 1_000;

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (id: string, extra: object = {}) => ({
  id,
  agent: { credential: 'llm', model: 'm', prompt: 'hi' },
  ...extra,
});
const mail = (id: string, extra: object = {}) => ({
  id,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'a@example.com', subject: 's', body: 'b' },
  },
  ...extra,
});
const reply = (id: string, body: unknown = 'ok') => ({ id, response: { body } });

const revision = (nodes: object[], edges?: object[]): Revision =>
  revisionOf({ active: true, nodes, ...(edges && { edges }) } as WorkflowSpec);

function open(plan: Revision, state: Partial<RunState> = {}): Memory {
  const full: RunState = {
    run: 'orders-1',
    project: 'p',
    workflow: 'orders',
    workflowUid: 'w',
    revision: 'orders-r',
    trigger: 'webhook',
    test: false,
    phase: 'Running',
    epoch: 1,
    sequence: 1,
    acceptedAt: 500,
    cancelRequested: false,
    crashes: 0,
    input: '{"text_content":"","data_content":{"items":[{"name":"lamp"}],"n":3}}',
    nodes: [],
    ...state,
  };
  return openMemory(
    { token: 't', state: full, remainingMs: 60_000, claimedAt: NOW, alone: false },
    planOf(plan),
    NOW,
  );
}

const turn = (memory: Memory) => takeTurn(memory, NOW);
const text = (text_content: string) => ({ output: { text_content, data_content: null } });
const phases = (nodes: NodeState[] | undefined) =>
  Object.fromEntries((nodes ?? []).map(({ id, phase }) => [id, phase]));
const fail = (memory: Memory, id: string) =>
  endNode(memory, id, { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);

test('values are computed at once, in the step of the run that they belong to', () => {
  const shape = (id: string, values: unknown) => ({ id, skill: { name: 'set', parameters: { values } } });
  const nodes = [
    webhook,
    shape('a', { double: 'nodes.trigger.data_content.n * 2.0' }),
    reply('reply', "{{ $('a').data_content.double }}"),
  ];
  expect(turn(open(revision(nodes)))).toMatchObject({
    checkpoints: [{ id: 'trigger' }, { id: 'a', output: { data_content: { double: 6 } } }, { id: 'reply' }],
    reply: { body: '6' },
    end: { phase: 'Succeeded' },
  });
  expect(turn(open(revision([webhook, shape('a', { x: 'nodes.trigger.data_content.none' })])))).toMatchObject(
    {
      checkpoints: [{ id: 'trigger' }, { id: 'a', phase: 'Failed', reason: 'MissingValue' }],
      end: { phase: 'Failed', message: expect.stringContaining('node a: MissingValue: values.x: ') },
    },
  );
});

test('a run without effects takes one step: trigger, reply and end together', () => {
  const memory = open(revision([webhook, reply('reply', "{{ $('trigger').data_content.items[0].name }}")]));
  const step = turn(memory);
  expect(step).toMatchObject({
    checkpoints: [
      { id: 'trigger', phase: 'Succeeded', outputIsInput: true },
      { id: 'reply', phase: 'Succeeded', attempts: 1 },
    ],
    reply: { status: 200, body: 'lamp' },
    end: { phase: 'Succeeded' },
  });
  expect(step).not.toHaveProperty('starts');
});

test('a node with an effect is marked before it begins, with what is known of its effect', () => {
  const memory = open(revision([webhook, agent('a'), mail('m')]));
  expect(turn(memory)?.starts).toEqual([{ id: 'a', attempt: 1, atMostOnce: false, at: NOW }]);
  expect(turn(memory)).toBeUndefined();
  succeed(memory, 'a', text('hello'), NOW);
  const step = turn(memory);
  expect(phases(step?.checkpoints)).toEqual({ a: 'Succeeded' });
  expect(step?.starts).toEqual([{ id: 'm', attempt: 1, atMostOnce: true, at: NOW }]);
});

test('branches begin at the same time, and what joins them waits for both', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'a', to: 'reply' },
    { from: 'b', to: 'reply' },
  ];
  const memory = open(
    revision(
      [webhook, agent('a'), agent('b'), reply('reply', "{{ $('a').text_content }}{{ $('b').text_content }}")],
      edges,
    ),
  );
  expect(turn(memory)?.starts?.map(({ id }) => id)).toEqual(['a', 'b']);
  succeed(memory, 'a', text('1'), NOW);
  expect(turn(memory)).not.toHaveProperty('end');
  succeed(memory, 'b', text('2'), NOW);
  expect(turn(memory)).toMatchObject({ reply: { body: '12' }, end: { phase: 'Succeeded' } });
});

test('conditions choose the branch, and what is not taken is skipped', () => {
  const edges = [
    { from: 'trigger', to: 'many', when: 'nodes.trigger.data_content.n > 2' },
    { from: 'trigger', to: 'few', when: 'nodes.trigger.data_content.n <= 2' },
  ];
  const step = turn(open(revision([webhook, reply('many', 'many'), reply('few', 'few')], edges)));
  expect(phases(step?.checkpoints)).toEqual({ trigger: 'Succeeded', many: 'Succeeded', few: 'Skipped' });
  expect(step).toMatchObject({ reply: { body: 'many' }, end: { phase: 'Succeeded' } });
});

test('a condition that cannot be judged fails the run', () => {
  const edges = [{ from: 'trigger', to: 'reply', when: 'nodes.trigger.data_content.missing > 2' }];
  const step = turn(open(revision([webhook, reply('reply')], edges)));
  expect(step?.end).toMatchObject({
    phase: 'Failed',
    reason: 'ConditionFailed',
    message: expect.stringContaining('edge trigger → reply: when: '),
  });
  expect(phases(step?.checkpoints)).toMatchObject({ reply: 'Skipped' });
});

test('a reference that leads nowhere fails the node without a mark, and the run', () => {
  const step = turn(
    open(revision([webhook, reply('reply', "{{ $('trigger').data_content.items[9].name }}")])),
  );
  expect(step?.checkpoints).toContainEqual(
    expect.objectContaining({ id: 'reply', phase: 'Failed', reason: 'MissingValue' }),
  );
  expect(step?.end).toMatchObject({
    phase: 'Failed',
    reason: 'NodeFailed',
    message: expect.stringContaining('node reply: MissingValue'),
  });
});

test('after a failure that is let pass the next node reads the error', () => {
  const memory = open(
    revision([webhook, agent('a', { onError: 'Continue' }), reply('reply', "{{ $('a').error.reason }}")]),
  );
  turn(memory);
  fail(memory, 'a');
  expect(turn(memory)).toMatchObject({ reply: { body: 'Refused' }, end: { phase: 'Succeeded' } });
});

test('an edge after failure is taken when the node fails, and skipped when it does not', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'good' },
    { from: 'a', to: 'bad', after: 'Failure' },
  ];
  const plan = revision([webhook, agent('a'), reply('good', 'good'), reply('bad', 'bad')], edges);
  const failed = open(plan);
  turn(failed);
  fail(failed, 'a');
  expect(turn(failed)).toMatchObject({ reply: { body: 'bad' }, end: { phase: 'Succeeded' } });
  const succeeded = open(plan);
  turn(succeeded);
  succeed(succeeded, 'a', text(''), NOW);
  expect(turn(succeeded)).toMatchObject({ reply: { body: 'good' }, end: { phase: 'Succeeded' } });
});

test('a failure edge whose condition asks a branch that still runs does not fail the run too soon', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'a', to: 'c', after: 'Failure', when: "nodes.b.text_content == 'go'" },
    { from: 'b', to: 'c' },
  ];
  const memory = open(revision([webhook, agent('a'), agent('b'), reply('c')], edges));
  turn(memory);
  fail(memory, 'a');
  expect(turn(memory)).not.toHaveProperty('end');
  succeed(memory, 'b', text('go'), NOW);
  expect(turn(memory)).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('when the run has failed, what runs may end and nothing starts', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'b', to: 'c' },
  ];
  const memory = open(revision([webhook, agent('a'), agent('b'), agent('c')], edges));
  turn(memory);
  fail(memory, 'a');
  const first = turn(memory);
  expect(phases(first?.checkpoints)).toEqual({ a: 'Failed', c: 'Skipped' });
  expect(first).not.toHaveProperty('end');
  succeed(memory, 'b', text(''), NOW);
  expect(turn(memory)).toMatchObject({
    checkpoints: [{ id: 'b', phase: 'Succeeded' }],
    end: { phase: 'Failed' },
  });
});

test('a test run without an event takes the test data', () => {
  const trigger = { id: 'trigger', manual: { testData: { name: 'Ada' } } };
  const step = turn(
    open(revision([trigger, reply('reply', "{{ $('trigger').data_content.name }}")]), {
      input: '',
      test: true,
    }),
  );
  expect(step).toMatchObject({
    checkpoints: [{ output: { data_content: { name: 'Ada' } } }, {}],
    reply: { body: 'Ada' },
  });
});

test('references see the headers of the webhook', () => {
  const input = '{"text_content":"","data_content":{},"headers":{"x-shop":"berlin"}}';
  const step = turn(
    open(revision([webhook, reply('reply', "{{ $('trigger').headers['x-shop'] }}")]), { input }),
  );
  expect(step).toMatchObject({ reply: { body: 'berlin' } });
});

const chain = revision([webhook, agent('a'), mail('m'), reply('reply', "{{ $('a').text_content }}")]);
const done = (id: string, text_content = ''): NodeState => ({
  id,
  phase: 'Succeeded',
  attempts: 1,
  output: { text_content, data_content: null },
});

const busy = { phase: 'Failed', reason: 'UpstreamError', message: 'busy' } as const;
const cancelled = {
  phase: 'Cancelled',
  reason: 'Cancelled',
  message: 'somebody cancelled the run',
} as const;

test('after a takeover, nodes with a checkpoint are not repeated', () => {
  const step = turn(open(chain, { nodes: [done('trigger'), done('a', 'hello')] }));
  expect(step).toEqual({ starts: [{ id: 'm', attempt: 1, atMostOnce: true, at: NOW }] });
});

test('after a takeover, a marked node that may be repeated is, as the same attempt', () => {
  const marked: NodeState = {
    id: 'a',
    phase: 'Running',
    attempts: 2,
    startedAt: 600,
    mark: { attempt: 2, atMostOnce: false },
  };
  const step = turn(open(chain, { nodes: [done('trigger'), marked] }));
  expect(step).toEqual({ starts: [{ id: 'a', attempt: 2, atMostOnce: false, at: NOW, firstAt: 600 }] });
});

test('after a takeover, a marked node that must not be repeated is unknown and fails the run', () => {
  const marked: NodeState = {
    id: 'm',
    phase: 'Running',
    attempts: 1,
    startedAt: 700,
    mark: { attempt: 1, atMostOnce: true },
  };
  const step = turn(open(chain, { nodes: [done('trigger'), done('a'), marked] }));
  expect(step).toMatchObject({
    checkpoints: [
      { id: 'm', phase: 'Unknown', reason: 'EffectUnknown', attempts: 1, startedAt: 700, endedAt: NOW },
      { id: 'reply', phase: 'Skipped' },
    ],
    end: { phase: 'Failed', reason: 'EffectUnknown' },
  });
});

test('after a takeover, a node that waited goes on waiting, and then has its next attempt', () => {
  const waiting: NodeState = {
    id: 'm',
    phase: 'Waiting',
    attempts: 1,
    startedAt: 700,
    nextAttemptAt: NOW + 60_000,
  };
  const memory = open(chain, { nodes: [done('trigger'), done('a'), waiting] });
  expect(turn(memory)).toBeUndefined();
  expect(waitsOf(memory)).toEqual([{ id: 'm', leftMs: expect.closeTo(60_000, -3) }]);
  endWait(memory, 'm');
  expect(turn(memory)?.starts).toEqual([{ id: 'm', attempt: 2, atMostOnce: true, at: NOW, firstAt: 700 }]);
});

test('a node that waits for its next attempt is stored as waiting, then marked again', () => {
  const memory = open(chain);
  turn(memory);
  awaitRetry(memory, 'a', busy, 5_000);
  expect(turn(memory)).toEqual({
    checkpoints: [
      { id: 'a', phase: 'Waiting', attempts: 1, startedAt: NOW, reason: 'UpstreamError', message: 'busy' },
    ],
    waits: [{ id: 'a', delayMs: 5_000 }],
  });
  endWait(memory, 'a');
  expect(takeTurn(memory, NOW + 50)).toEqual({
    starts: [{ id: 'a', attempt: 2, atMostOnce: false, at: NOW + 50, firstAt: NOW }],
  });
});

test('when the run is cancelled, what waits or has not begun ends at once', () => {
  const memory = open(chain);
  turn(memory);
  awaitRetry(memory, 'a', busy, 5_000);
  turn(memory);
  memory.halt = cancelled;
  const step = turn(memory);
  expect(phases(step?.checkpoints)).toEqual({ a: 'Cancelled', m: 'Skipped', reply: 'Skipped' });
  expect(step?.end).toMatchObject({ phase: 'Cancelled' });
});

test('a node that a dead runner began is no skipped one when the run is cancelled', () => {
  const marked: NodeState = {
    id: 'a',
    phase: 'Running',
    attempts: 2,
    startedAt: 600,
    mark: { attempt: 2, atMostOnce: false },
  };
  const memory = open(chain, { nodes: [done('trigger'), marked] });
  memory.halt = cancelled;
  expect(turn(memory)?.checkpoints?.[0]).toMatchObject({
    id: 'a',
    phase: 'Cancelled',
    attempts: 2,
    startedAt: 600,
  });
});

test('a runner that leaves begins no effect, and what it stopped in time is released', () => {
  const memory = open(chain);
  turn(memory);
  memory.leaving = true;
  release(memory, 'a');
  expect(turn(memory)).toEqual({ checkpoints: [{ id: 'a', phase: 'Pending', attempts: 0, startedAt: NOW }] });
  expect(turn(memory)).toBeUndefined();
});

test('outputs that the run store refuses fail their nodes and the run', () => {
  const memory = open(chain);
  turn(memory);
  succeed(memory, 'a', text('much'), NOW);
  const refused = turn(memory);
  refuseOutputs(memory, refused!, 'too large');
  const step = turn(memory);
  expect(step).toMatchObject({
    checkpoints: [
      { id: 'a', phase: 'Failed', reason: 'OutputTooLarge' },
      { id: 'm', phase: 'Skipped' },
      { id: 'reply', phase: 'Skipped' },
    ],
    end: { phase: 'Failed', reason: 'OutputTooLarge' },
  });
  expect(JSON.stringify(step)).not.toContain('much');
});
