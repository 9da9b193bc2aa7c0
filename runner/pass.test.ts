/** How a run goes from turn to turn: what begins when, which branch is taken, and how it ends. */
import { expect, test } from 'vitest';
import {
  agent,
  fail,
  mail,
  NOW,
  open,
  phases,
  reply,
  revision,
  text,
  pass,
  webhook,
} from '../test/support/runner/passes.ts';
import { release, succeed } from './transitions.ts';

test('values are computed in the scheduling pass in which they become ready', () => {
  const shape = (id: string, values: unknown) => ({ id, skill: { name: 'set', parameters: { values } } });
  const nodes = [
    webhook,
    shape('a', { double: 'nodes.trigger.data_content.n * 2.0' }),
    reply('reply', "{{ $('a').data_content.double }}"),
  ];
  expect(pass(open(revision(nodes)))).toMatchObject({
    checkpoints: [{ id: 'trigger' }, { id: 'a', output: { data_content: { double: 6 } } }, { id: 'reply' }],
    reply: { body: '6' },
    end: { phase: 'Succeeded' },
  });
  expect(pass(open(revision([webhook, shape('a', { x: 'nodes.trigger.data_content.none' })])))).toMatchObject(
    {
      checkpoints: [{ id: 'trigger' }, { id: 'a', phase: 'Failed', reason: 'MissingValue' }],
      end: { phase: 'Failed', message: expect.stringContaining('node a: MissingValue: values.x: ') },
    },
  );
});

test('a mock stands in place of values that would be computed', () => {
  const shape = (id: string, values: unknown) => ({ id, skill: { name: 'set', parameters: { values } } });
  const nodes = [
    webhook,
    shape('a', { double: 'nodes.trigger.data_content.n * 2.0' }),
    shape('b', { next: 'nodes.a.data_content.double + 1.0' }),
  ];
  const mocks = [{ node: 'a', output: { data_content: { double: 40 } } }];
  expect(pass(open(revision(nodes), { testing: { mocks, unmocked: 'Execute' } }))).toMatchObject({
    checkpoints: [
      { id: 'trigger' },
      { id: 'a', output: { data_content: { double: 40 } } },
      { id: 'b', output: { data_content: { next: 41 } } },
    ],
    end: { phase: 'Succeeded' },
  });
});

test('a run reads when it was accepted in the time zone of its workflow', () => {
  const values = { local: 'run.localTime', zone: 'run.timeZone' };
  const plan = revision([webhook, { id: 'a', skill: { name: 'set', parameters: { values } } }]);
  const acceptedAt = Date.UTC(2026, 4, 1, 22, 30);
  const dataIn = (timeZone?: string) =>
    pass(open({ ...plan, ...(timeZone !== undefined && { timeZone }) }, { acceptedAt }))?.checkpoints?.[1]
      ?.output?.data_content;
  expect(dataIn()).toEqual({ local: '2026-05-01T22:30:00Z', zone: 'UTC' });
  expect(dataIn('Europe/Berlin')).toEqual({ local: '2026-05-02T00:30:00+02:00', zone: 'Europe/Berlin' });
});

test('values and conditions read the node before and the run', () => {
  const shape = (id: string, values: unknown) => ({ id, skill: { name: 'set', parameters: { values } } });
  const nodes = [
    webhook,
    shape('a', {
      n: 'previous.data_content.n',
      id: 'run.id',
      accepted: 'run.accepted',
      project: 'run.project',
    }),
    reply('reply', "{{ $previous.data_content.n }} {{ $previous.data_content.none ?? 'none' }}"),
  ];
  const edges = [
    { from: 'trigger', to: 'a', when: 'previous.data_content.n == 3 && !run.test' },
    { from: 'a', to: 'reply', when: 'previous.data_content.n == 3' },
  ];
  expect(pass(open(revision(nodes, edges)))).toMatchObject({
    checkpoints: [
      {},
      {
        output: {
          data_content: { n: 3, id: 'orders-1', accepted: '1970-01-01T00:00:00.500Z', project: 'shop' },
        },
      },
      {},
    ],
    reply: { body: '3 none' },
  });
});

test('values and references read the variables that were current at acceptance', () => {
  const shape = {
    id: 'a',
    skill: { name: 'set', parameters: { values: { max: 'vars["limits.json"].max + 1' } } },
  };
  const plan = revision([webhook, shape, reply('reply', "{{ $vars.url }} {{ $vars.none ?? 'none' }}")]);
  const variables = { url: 'https://example.com', 'limits.json': { max: 4 } };
  expect(pass(open(plan, {}, variables))).toMatchObject({
    checkpoints: [{}, { output: { data_content: { max: 5 } } }, {}],
    reply: { body: 'https://example.com none' },
  });
  expect(pass(open(plan))?.end?.message).toContain("the project has no variable 'limits.json'");
});

const stop = (message: string, extra: object = {}) => ({
  id: 'stop',
  fail: { reason: 'OutOfStock', message },
  ...extra,
});

test('a fail node ends the run with its reason and message', () => {
  const nodes = [webhook, stop("{{ $('trigger').data_content.items[0].name }} is sold out")];
  const message = 'lamp is sold out';
  expect(pass(open(revision(nodes)))).toMatchObject({
    checkpoints: [{ id: 'trigger' }, { id: 'stop', phase: 'Failed', reason: 'OutOfStock', message }],
    end: { phase: 'Failed', reason: 'OutOfStock', message },
  });
});

test('a fail node lets running nodes end, and no node starts any more', () => {
  const nodes = [webhook, agent('a'), stop('sold out'), mail('m')];
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'stop', when: 'has(nodes.trigger)' },
    { from: 'a', to: 'm' },
  ];
  const memory = open(revision(nodes, edges));
  const first = pass(memory);
  if (first?.starts) succeed(memory, 'a', text('hello'), NOW);
  expect(pass(memory) ?? first).toMatchObject({
    end: { phase: 'Failed', reason: 'OutOfStock', message: 'sold out' },
  });
  expect(memory.root.phases.get('m')).toBe('Skipped');
});

test('the message of a sensitive fail node is not shown with the run', () => {
  expect(pass(open(revision([webhook, stop('card 4111', { sensitive: true })])))?.end).toEqual({
    phase: 'Failed',
    reason: 'OutOfStock',
    message: 'node stop: OutOfStock',
  });
});

test('a fail node whose message has no value fails the run with that error', () => {
  expect(pass(open(revision([webhook, stop("{{ $('trigger').data_content.none }}")])))?.end).toMatchObject({
    phase: 'Failed',
    reason: 'NodeFailed',
    message: expect.stringContaining('node stop: MissingValue: '),
  });
});

test('a run without effects takes one step: trigger, reply and end together', () => {
  const memory = open(revision([webhook, reply('reply', "{{ $('trigger').data_content.items[0].name }}")]));
  const step = pass(memory);
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

test('a node with an effect gets a start mark with its effect before it starts', () => {
  const memory = open(revision([webhook, agent('a'), mail('m')]));
  expect(pass(memory)?.starts).toEqual([{ id: 'a', attempt: 1, atMostOnce: false, at: NOW }]);
  expect(pass(memory)).toBeUndefined();
  succeed(memory, 'a', text('hello'), NOW);
  const step = pass(memory);
  expect(phases(step?.checkpoints)).toEqual({ a: 'Succeeded' });
  expect(step?.starts).toEqual([{ id: 'm', attempt: 1, atMostOnce: true, at: NOW }]);
});

test('branches start concurrently, and the node that joins them waits for both', () => {
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
  expect(pass(memory)?.starts?.map(({ id }) => id)).toEqual(['a', 'b']);
  succeed(memory, 'a', text('1'), NOW);
  expect(pass(memory)).not.toHaveProperty('end');
  succeed(memory, 'b', text('2'), NOW);
  expect(pass(memory)).toMatchObject({ reply: { body: '12' }, end: { phase: 'Succeeded' } });
});

test('conditions select the branch, and the other branch is skipped', () => {
  const edges = [
    { from: 'trigger', to: 'many', when: 'nodes.trigger.data_content.n > 2' },
    { from: 'trigger', to: 'few', when: 'nodes.trigger.data_content.n <= 2' },
  ];
  const step = pass(open(revision([webhook, reply('many', 'many'), reply('few', 'few')], edges)));
  expect(phases(step?.checkpoints)).toEqual({ trigger: 'Succeeded', many: 'Succeeded', few: 'Skipped' });
  expect(step).toMatchObject({ reply: { body: 'many' }, end: { phase: 'Succeeded' } });
});

test('a condition that cannot be evaluated fails the run', () => {
  const edges = [{ from: 'trigger', to: 'reply', when: 'nodes.trigger.data_content.missing > 2' }];
  const step = pass(open(revision([webhook, reply('reply')], edges)));
  expect(step?.end).toMatchObject({
    phase: 'Failed',
    reason: 'ConditionFailed',
    message: expect.stringContaining('edge trigger → reply: when: '),
  });
  expect(phases(step?.checkpoints)).toMatchObject({ reply: 'Skipped' });
});

test('a condition that compares text with a number says so in words', () => {
  const edges = [{ from: 'trigger', to: 'reply', when: 'nodes.trigger.text_content > 100' }];
  const step = pass(open(revision([webhook, reply('reply')], edges)));
  expect(step?.end).toMatchObject({
    reason: 'ConditionFailed',
    message: 'edge trigger → reply: when: nodes.trigger.text_content is a text, and 100 is a number',
  });
});

test('a reference to a missing value fails the node without a start mark, and the run', () => {
  const step = pass(
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

test('after a failure with onError Continue the next node can read the error', () => {
  const memory = open(
    revision([webhook, agent('a', { onError: 'Continue' }), reply('reply', "{{ $('a').error.reason }}")]),
  );
  pass(memory);
  fail(memory, 'a');
  expect(pass(memory)).toMatchObject({ reply: { body: 'Refused' }, end: { phase: 'Succeeded' } });
});

test('an edge after failure is taken when the node fails, and skipped when it does not', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'good' },
    { from: 'a', to: 'bad', after: 'Failure' },
  ];
  const plan = revision([webhook, agent('a'), reply('good', 'good'), reply('bad', 'bad')], edges);
  const failed = open(plan);
  pass(failed);
  fail(failed, 'a');
  expect(pass(failed)).toMatchObject({ reply: { body: 'bad' }, end: { phase: 'Succeeded' } });
  const succeeded = open(plan);
  pass(succeeded);
  succeed(succeeded, 'a', text(''), NOW);
  expect(pass(succeeded)).toMatchObject({ reply: { body: 'good' }, end: { phase: 'Succeeded' } });
});

test('a failure edge whose condition depends on a running branch does not fail the run too early', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'a', to: 'c', after: 'Failure', when: "nodes.b.text_content == 'go'" },
    { from: 'b', to: 'c' },
  ];
  const memory = open(revision([webhook, agent('a'), agent('b'), reply('c')], edges));
  pass(memory);
  fail(memory, 'a');
  expect(pass(memory)).not.toHaveProperty('end');
  succeed(memory, 'b', text('go'), NOW);
  expect(pass(memory)).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('after the run has failed, running nodes may end and no node starts', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'b', to: 'c' },
  ];
  const memory = open(revision([webhook, agent('a'), agent('b'), agent('c')], edges));
  pass(memory);
  fail(memory, 'a');
  const first = pass(memory);
  expect(phases(first?.checkpoints)).toEqual({ a: 'Failed', c: 'Skipped' });
  expect(first).not.toHaveProperty('end');
  succeed(memory, 'b', text(''), NOW);
  expect(pass(memory)).toMatchObject({
    checkpoints: [{ id: 'b', phase: 'Succeeded' }],
    end: { phase: 'Failed' },
  });
});

test('a test run without an event takes the test data', () => {
  const trigger = { id: 'trigger', manual: { testData: { name: 'Ada' } } };
  const step = pass(
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

test('references can read the headers of the webhook', () => {
  const input = '{"text_content":"","data_content":{},"headers":{"x-shop":"berlin"}}';
  const step = pass(
    open(revision([webhook, reply('reply', "{{ $('trigger').headers['x-shop'] }}")]), { input }),
  );
  expect(step).toMatchObject({ reply: { body: 'berlin' } });
});

const code = { id: 'c', code: { source: 'return nodes.trigger.data_content.n;' } };

test('code starts without a start mark, and one step stores its output with what came before', () => {
  const memory = open(revision([webhook, code, reply('reply')]));
  expect(pass(memory)).toBeUndefined();
  expect(memory.computations).toEqual([{ id: 'c', attempt: 1, atMostOnce: false, at: NOW }]);
  succeed(memory, 'c', text('3'), NOW);
  const step = pass(memory);
  expect(phases(step?.checkpoints)).toEqual({ trigger: 'Succeeded', c: 'Succeeded', reply: 'Succeeded' });
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
  expect(step).not.toHaveProperty('starts');
});

test('the end of an effect is stored at once, also while code runs', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'c' },
  ];
  const memory = open(revision([webhook, agent('a'), code], edges));
  expect(pass(memory)?.starts).toMatchObject([{ id: 'a' }]);
  succeed(memory, 'a', text('hello'), NOW);
  expect(phases(pass(memory)?.checkpoints)).toEqual({ a: 'Succeeded' });
});

test('code that a stopping runner aborted has not started, and does not start again there', () => {
  const memory = open(revision([webhook, code]));
  pass(memory);
  memory.computations = [];
  memory.stopping = true;
  release(memory, 'c');
  expect(phases(pass(memory)?.checkpoints)).toEqual({ trigger: 'Succeeded' });
  expect(memory.computations).toEqual([]);
});
