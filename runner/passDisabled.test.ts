/** Disabled steps: they are not executed, and what follows them is. */
import { expect, test } from 'vitest';
import { atLeastOnce, each, input, send } from '../test/support/runner/loops.ts';
import {
  agent,
  fail,
  mail,
  NOW,
  open,
  openLoops,
  pass,
  phases,
  reply,
  revision,
  text,
  webhook,
} from '../test/support/runner/passes.ts';
import { planUntil } from './plan.ts';
import { succeed } from './transitions.ts';

const disabled = { disabled: true };
const set = (id: string, values: unknown, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...extra,
});

test('a disabled step is skipped with a reason, and the nodes after it are executed', () => {
  const nodes = [
    webhook,
    mail('m', disabled),
    set('a', { n: 'nodes.trigger.data_content.n' }),
    reply('reply'),
  ];
  const step = pass(open(revision(nodes)));
  expect(step?.checkpoints?.[1]).toEqual({
    id: 'm',
    phase: 'Skipped',
    attempts: 0,
    endedAt: NOW,
    reason: 'Disabled',
    message: 'skipped: the step is disabled',
  });
  expect(phases(step?.checkpoints)).toEqual({
    trigger: 'Succeeded',
    m: 'Skipped',
    a: 'Succeeded',
    reply: 'Succeeded',
  });
  expect(step).toMatchObject({ reply: { body: 'ok' }, end: { phase: 'Succeeded' } });
  expect(step?.starts).toBeUndefined();
});

test('$previous after disabled steps is the output of the last node that is executed before them', () => {
  const nodes = [
    webhook,
    mail('m', disabled),
    { id: 'pause', wait: { duration: '1h' }, disabled: true },
    set('a', { n: 'previous.data_content.n' }),
    reply('reply', '{{ $previous.data_content.n }}'),
  ];
  const edges = [
    { from: 'trigger', to: 'm' },
    { from: 'm', to: 'pause', when: 'previous.data_content.n == 3' },
    { from: 'pause', to: 'a', when: 'previous.data_content.n == 3' },
    { from: 'a', to: 'reply' },
  ];
  expect(pass(open(revision(nodes, edges)))).toMatchObject({ reply: { body: '3' } });
});

test('conditions of edges that leave a disabled step decide, and edges after its failure are not taken', () => {
  const nodes = [webhook, mail('m', disabled), set('a', 1), set('b', 1), set('c', 1)];
  const edges = [
    { from: 'trigger', to: 'm' },
    { from: 'm', to: 'a', when: 'nodes.trigger.data_content.n > 10' },
    { from: 'm', to: 'b', when: 'nodes.trigger.data_content.n < 10' },
    { from: 'm', to: 'c', after: 'Failure' },
  ];
  expect(phases(pass(open(revision(nodes, edges)))?.checkpoints)).toMatchObject({
    a: 'Skipped',
    b: 'Succeeded',
    c: 'Skipped',
  });
});

test('a disabled step on a branch that is not taken is skipped without a reason, and so is what follows', () => {
  const edges = [
    { from: 'trigger', to: 'm', when: 'false' },
    { from: 'm', to: 'a' },
  ];
  const step = pass(open(revision([webhook, mail('m', disabled), set('a', 1)], edges)));
  expect(phases(step?.checkpoints)).toMatchObject({ m: 'Skipped', a: 'Skipped' });
  expect(step?.checkpoints?.some(({ reason }) => reason !== undefined)).toBe(false);
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('a disabled step waits for all nodes before it', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'a', to: 'm' },
    { from: 'b', to: 'm' },
    { from: 'm', to: 'reply' },
  ];
  const state = open(revision([webhook, agent('a'), agent('b'), mail('m', disabled), reply('reply')], edges));
  expect(pass(state)?.starts).toHaveLength(2);
  succeed(state, 'a', text(''), NOW);
  expect(phases(pass(state)?.checkpoints)).toEqual({ a: 'Succeeded' });
  succeed(state, 'b', text(''), NOW);
  expect(phases(pass(state)?.checkpoints)).toEqual({ b: 'Succeeded', m: 'Skipped', reply: 'Succeeded' });
});

test('a failure that leads to a disabled step is handled', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'm', after: 'Failure' },
    { from: 'm', to: 'b' },
  ];
  const state = open(revision([webhook, agent('a'), mail('m', disabled), set('b', 1)], edges));
  pass(state);
  fail(state, 'a');
  const step = pass(state);
  expect(phases(step?.checkpoints)).toEqual({ a: 'Failed', m: 'Skipped', b: 'Succeeded' });
  expect(step?.end?.phase).toBe('Succeeded');
});

test('after a takeover the edges of a disabled step are decided as before', () => {
  const nodes = [webhook, mail('m', disabled), agent('a'), reply('reply')];
  const done = { phase: 'Succeeded' as const, attempts: 1 };
  const state = open(revision(nodes), {
    nodes: [
      { id: 'trigger', ...done, output: { text_content: '', data_content: { n: 3 } } },
      { id: 'm', phase: 'Skipped', attempts: 0, reason: 'Disabled' },
    ],
  });
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['a']);
});

test('when the run has failed, a disabled step is skipped as all nodes', () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'm' },
  ];
  const state = open(revision([webhook, agent('a'), mail('m', disabled)], edges));
  pass(state);
  fail(state, 'a');
  const step = pass(state);
  expect(step?.end?.phase).toBe('Failed');
  expect(step?.checkpoints?.find(({ id }) => id === 'm')).toMatchObject({ phase: 'Skipped' });
  expect(step?.checkpoints?.find(({ id }) => id === 'm')).not.toHaveProperty('reason');
});

test('in a loop a disabled step is passed over in each item', () => {
  const log = mail('log', { within: 'each', disabled: true });
  const state = openLoops(revision([webhook, each(), log, send]), { input: input(2) });
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.0.0.1/send', 'each.1.0.1/send']);
  for (const key of ['each.0.0.1/send', 'each.1.0.1/send']) succeed(state, key, text('sent'), NOW);
  const step = pass(state);
  expect(step?.end?.phase).toBe('Succeeded');
  expect(step?.checkpoints?.find(({ id }) => id === 'log')).toMatchObject({
    phase: 'Skipped',
    reason: 'Disabled',
  });
});

test('a disabled group executes no item, and a body of disabled steps has no output', () => {
  const group = openLoops(revision([webhook, { ...each(), ...disabled }, send, set('a', 1)]), {
    input: input(2),
  });
  const step = pass(group);
  expect(phases(step?.checkpoints)).toEqual({ trigger: 'Succeeded', each: 'Skipped', a: 'Succeeded' });
  expect(step?.end?.phase).toBe('Succeeded');
  const body = openLoops(revision([webhook, each(), { ...send, ...disabled }]), { input: input(2) });
  expect(pass(body)?.checkpoints?.find(({ id, output }) => id === 'each' && output)).toMatchObject({
    phase: 'Succeeded',
    output: { data_content: [null, null] },
  });
});

test('a disabled step at the end of a repeated body does not change what its condition reads', () => {
  const group = {
    id: 'each',
    group: {},
    repeat: { until: 'nodes.each.data_content.n == 3', limit: 2 },
  };
  const nodes = [
    webhook,
    group,
    set('a', { n: 'nodes.trigger.data_content.n' }, { within: 'each' }),
    { ...atLeastOnce, ...disabled },
  ];
  expect(pass(openLoops(revision(nodes), {}))?.end?.phase).toBe('Succeeded');
});

test('a test run until a disabled step executes the nodes before it', () => {
  const nodes = [webhook, set('a', 1), mail('m', disabled), mail('other')];
  const state = open(revision(nodes));
  const until = { ...state, plan: planUntil(state.plan, 'm') };
  expect(until.plan.until?.asked).toEqual(new Set(['trigger', 'a', 'm']));
});

test('the output of a run is that of its last step that is executed', () => {
  const nodes = [webhook, set('a', { n: '1' }), mail('m', disabled)];
  const state = open(revision(nodes), { parent: { run: 'p', node: 'x', waits: true } as never });
  expect(pass(state)?.end?.output?.data_content).toEqual({ n: 1 });
});
