/** How loops are scheduled, and how they end. */
import { expect, test } from 'vitest';
import { atLeastOnce, each, input, send } from '../test/support/runner/loops.ts';
import {
  fail,
  NOW,
  openLoops,
  mail,
  pass,
  phases,
  revision,
  text,
  webhook,
} from '../test/support/runner/passes.ts';
import type { RunState } from '../runs/types/run.ts';
import { endNode, noteChildInDoubt, succeed } from './transitions.ts';
import { refuseOutputs } from './changes.ts';
import { AttemptLimit } from './attemptLimit.ts';

test('at most maxParallel items are in progress, and the next one starts when one has ended', () => {
  const state = openLoops(revision([webhook, each(), send]), { input: input(3) });
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.0.0.1/send', 'each.1.0.1/send']);
  succeed(state, 'each.1.0.1/send', text('b'), NOW);
  expect(pass(state)).toMatchObject({
    checkpoints: [{ id: 'each.1', phase: 'Succeeded' }],
    starts: [{ id: 'each.2.0.1/send' }],
    dropped: ['each.1.0.1/send'],
  });
});

test('when the run is cancelled, items in progress end and no further item starts', () => {
  const state = openLoops(revision([webhook, each(), send]), { input: input(9) });
  pass(state);
  state.halt = { phase: 'Cancelled', reason: 'Cancelled', message: 'the run was cancelled' };
  expect(pass(state)).toBeUndefined();
  for (const key of ['each.0.0.1/send', 'each.1.0.1/send'])
    endNode(state, key, { phase: 'Cancelled', reason: 'Cancelled', message: '' }, NOW);
  const step = pass(state);
  expect(step).toMatchObject({ end: { phase: 'Cancelled' } });
  expect(phases(step?.checkpoints?.filter(({ id }) => id === 'each'))).toEqual({ each: 'Cancelled' });
});

test('a group with retry executes its body again under new keys', () => {
  const group = { id: 'each', group: {}, retry: { limit: 1, backoff: { initial: '0s' } } };
  const state = openLoops(revision([webhook, group, atLeastOnce]), {});
  expect(pass(state)?.starts?.[0]?.id).toBe('each.0.0.1/send');
  endNode(state, 'each.0.0.1/send', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  expect([pass(state), pass(state)].flatMap((step) => step?.starts ?? []).map(({ id }) => id)).toEqual([
    'each.0.0.2/send',
  ]);
});

test('a group is not executed again after a child run with an effect in doubt, nor a group around it', () => {
  const retry = { limit: 1, backoff: { initial: '0s' } };
  const outer = { id: 'outer', group: {}, retry };
  const inner = { id: 'each', within: 'outer', group: {}, retry };
  const state = openLoops(revision([webhook, outer, inner, atLeastOnce]), {});
  const [key = ''] = pass(state)?.starts?.map(({ id }) => id) ?? [];
  noteChildInDoubt(state, key);
  endNode(state, key, { phase: 'Failed', reason: 'ChildFailed', message: 'EffectUnknown' }, NOW);
  expect(pass(state)).toMatchObject({ end: { phase: 'Failed', reason: 'NodeFailed' } });
});

test('a group without a timeout stores nothing of its item before a node ends', () => {
  const state = openLoops(revision([webhook, { id: 'each', group: {} }, send]), {});
  expect(pass(state)?.checkpoints?.map(({ id }) => id)).toEqual(['trigger', 'each']);
});

test('a test run until a node of a body executes the first item as far as that node', () => {
  const nodes = [webhook, each(), mail('first', { within: 'each' }), send, mail('after')];
  const state = openLoops(revision(nodes), { input: input(3), test: true, until: 'first' });
  const begun = pass(state);
  expect(begun?.starts?.map(({ id }) => id)).toEqual(['each.0.0.1/first']);
  expect(phases(begun?.checkpoints)).toMatchObject({ after: 'Skipped' });
  succeed(state, 'each.0.0.1/first', text('a'), NOW);
  const step = pass(state);
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
  expect(step?.starts).toBeUndefined();
});

test('when the run is cancelled, an item that waits for its next execution ends', () => {
  const group = { id: 'each', group: {}, retry: { limit: 1, backoff: { initial: '1h', max: '1h' } } };
  const state = openLoops(revision([webhook, group, atLeastOnce]), {});
  pass(state);
  endNode(state, 'each.0.0.1/send', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  expect(pass(state)).toMatchObject({ waits: [{ id: 'each.0' }] });
  state.halt = { phase: 'Cancelled', reason: 'Cancelled', message: 'the run was cancelled' };
  expect(pass(state)).toMatchObject({ end: { phase: 'Cancelled' } });
  expect(state.timers.size).toBe(0);
});

test('items beyond the limit of attempts wait, and continue when an attempt has ended', () => {
  const attempts = new AttemptLimit(1).share(() => undefined);
  const plan = revision([webhook, each({ maxParallel: 9 }), send]);
  const state = openLoops(plan, { input: input(4), attempts });
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.0.0.1/send', 'each.1.0.1/send']);
  expect(pass(state)).toBeUndefined();
  attempts.release();
  succeed(state, 'each.0.0.1/send', text('a'), NOW);
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.2.0.1/send']);
});

test('a start mark that the run store refused gives its attempt back', () => {
  const attempts = new AttemptLimit(1).share(() => undefined);
  const state = openLoops(revision([webhook, each({ maxParallel: 9 }), send]), { input: input(2), attempts });
  const step = pass(state) ?? {};
  refuseOutputs(state, step, 'too large');
  delete state.halt;
  expect(pass(state)?.starts).toHaveLength(2);
});

test('an item that begins and waits in one step is stored once', () => {
  const group = { ...each(), timeout: '10s', retry: { limit: 1, backoff: { initial: '5s' } } };
  const bad = { id: 'bad', within: 'each', skill: { name: 'set', parameters: { values: 'item.missing' } } };
  const state = openLoops(revision([webhook, group, bad, atLeastOnce]), { input: input(1) });
  const ids = (pass(state)?.checkpoints ?? []).map(({ id }) => id).filter((id) => id === 'each.0');
  expect(ids).toEqual(['each.0']);
});

test('items with a loop inside that do not fit into one pass continue in the next one', () => {
  const nodes = [
    webhook,
    each({ maxParallel: 100 }),
    {
      id: 'again',
      within: 'each',
      skill: { name: 'set', parameters: { values: { n: 'previous.data_content == null ? 1 : 2' } } },
      repeat: { until: 'nodes.again.data_content.n == 2', limit: 3 },
    },
  ];
  const state = openLoops(revision(nodes), { input: input(200) });
  const steps = [];
  do steps.push(pass(state));
  while (state.hasMore);
  expect(steps.at(-1)?.end?.phase).toBe('Succeeded');
});

test('an item whose parameters cannot be evaluated does not keep its attempt', () => {
  const attempts = new AttemptLimit(2).share(() => undefined);
  const nodes = [
    webhook,
    {
      ...mail('send', { onError: 'Continue' }),
      skill: {
        name: 'send_email',
        credential: 'smtp',
        parameters: { to: '{{ $item.missing }}', subject: 's', body: 'b' },
      },
      forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 9 },
    },
  ];
  const state = openLoops(revision(nodes), { input: input(20), attempts });
  expect(pass(state)?.end?.phase).toBe('Succeeded');
});

test('results of repeat beyond the limit do not stop it, and the message names collect', () => {
  const text = JSON.stringify({ text_content: '', data_content: { text: 'x'.repeat(20_000) } });
  const values = {
    text: 'nodes.trigger.data_content.text',
    n: 'previous.data_content == null ? 1 : previous.data_content.n + 1',
  };
  const again = {
    id: 'again',
    skill: { name: 'set', parameters: { values } },
    repeat: { until: 'nodes.again.data_content.n >= 40', limit: 50, collect: 'Results' },
  };
  const state = openLoops(revision([webhook, again]), { input: text });
  const steps = [];
  do steps.push(pass(state));
  while (state.hasMore);
  const sizes = steps.flatMap((step) => step?.checkpoints ?? []).map((node) => JSON.stringify(node).length);
  expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
  expect(steps.at(-1)?.end).toMatchObject({
    phase: 'Failed',
    message: expect.stringMatching(/^node again: OutputTooLarge: .*repeat\.collect/),
  });
});

test('a failure of a repeated node names the node and the reason once', () => {
  const again = { ...mail('again'), repeat: { until: 'true', limit: 3 } };
  const state = openLoops(revision([webhook, again]), {});
  pass(state);
  endNode(state, 'again.0.0.1/again', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  expect(pass(state)?.end).toMatchObject({ phase: 'Failed', message: 'node again: Refused: no' });
});

test('the time of an execution that follows at once begins again, also where its runner dies before it', () => {
  const group = {
    id: 'again',
    group: {},
    timeout: '1h',
    repeat: { until: 'nodes.again.text_content == "b"', limit: 9 },
  };
  const state = openLoops(revision([webhook, group, mail('send', { within: 'again' })]), {});
  expect(pass(state)?.waits).toEqual([{ id: 'again.0', delayMs: 3_600_000 }]);
  succeed(state, 'again.0.0.1/send', text('a'), NOW);
  expect(pass(state)).toMatchObject({
    checkpoints: [{ id: 'again.0', repeat: 1 }],
    waits: [{ id: 'again.0', delayMs: 3_600_000 }],
  });
});

test('a loop with an item that is Unknown is Unknown, also where another item has failed before', () => {
  const state = openLoops(revision([webhook, each(), send]), { input: input(2) });
  pass(state);
  endNode(state, 'each.0.0.1/send', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  pass(state);
  endNode(state, 'each.1.0.1/send', { phase: 'Unknown', reason: 'EffectUnknown', message: 'who knows' }, NOW);
  const step = pass(state);
  expect(phases(step?.checkpoints?.filter(({ id }) => id === 'each'))).toEqual({ each: 'Unknown' });
  expect(step?.end).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
});

test('a group with a node that is Unknown is Unknown, also where another node has failed before', () => {
  const body = (id: string) => mail(id, { within: 'both' });
  const first = { id: 'first', within: 'both', skill: { name: 'set', parameters: { value: 1 } } };
  const edges = [
    { from: 'trigger', to: 'both' },
    { from: 'first', to: 'one' },
    { from: 'first', to: 'two' },
  ];
  const nodes = [webhook, { id: 'both', group: {} }, first, body('one'), body('two')];
  const state = openLoops(revision(nodes, edges), {});
  expect(pass(state)?.starts).toHaveLength(2);
  endNode(state, 'both.0.0.1/one', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  expect(pass(state)).not.toHaveProperty('end');
  const unknown = { phase: 'Unknown', reason: 'EffectUnknown', message: 'may be sent' } as const;
  endNode(state, 'both.0.0.1/two', unknown, NOW);
  const step = pass(state);
  expect(step?.checkpoints?.find(({ id }) => id === 'both')).toMatchObject({
    phase: 'Unknown',
    message: 'node two: may be sent',
  });
  expect(step?.end).toMatchObject({ reason: 'EffectUnknown' });
});

test('the text of a loop counts its items, and that of a repeated node its executions', () => {
  const textOf = (step: ReturnType<typeof pass>, id: string) =>
    step?.checkpoints?.find((each) => each.id === id)?.output?.text_content;
  const state = openLoops(revision([webhook, { ...each(), onError: 'Continue' }, send]), { input: input(2) });
  pass(state);
  succeed(state, 'each.0.0.1/send', text('a'), NOW);
  endNode(state, 'each.1.0.1/send', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  expect(textOf(pass(state), 'each')).toBe('1 of 2 items failed.');
  const repeated = {
    ...mail('again'),
    repeat: { until: 'nodes.again.text_content == "b"', limit: 9, collect: 'Results' as const },
  };
  const again = openLoops(revision([webhook, repeated]), {});
  pass(again);
  succeed(again, 'again.0.0.1/again', text('b'), NOW);
  expect(textOf(pass(again), 'again')).toBe('Executed 1 time.');
});

const pause = (within: string) => ({ id: 'pause', wait: { duration: '1h' }, within });
const fromTrigger = (...ids: string[]) => ids.map((to) => ({ from: 'trigger', to }));

test('when another branch fails the run, items in progress start no further node, and do not wait', () => {
  const nodes = [webhook, each(), pause('each'), mail('after', { within: 'each' }), mail('other')];
  const state = openLoops(revision(nodes, fromTrigger('each', 'other')), { input: input(2) });
  pass(state);
  expect(state.timers.size).toBe(2);
  fail(state, 'other');
  const step = pass(state);
  expect(step).toMatchObject({ end: { phase: 'Failed', message: 'node other: Refused: no' } });
  expect(phases(step?.checkpoints)).toMatchObject({ each: 'Cancelled' });
  expect(state.timers.size).toBe(0);
});

test('an item in progress may end the node that runs when another branch fails the run', () => {
  const body = [mail('first', { within: 'each' }), mail('after', { within: 'each' })];
  const nodes = [webhook, each({ maxParallel: 1 }), ...body, mail('other')];
  const state = openLoops(revision(nodes, fromTrigger('each', 'other')), { input: input(2) });
  pass(state);
  fail(state, 'other');
  expect(pass(state)?.end).toBeUndefined();
  succeed(state, 'each.0.0.1/first', text('sent'), NOW);
  const step = pass(state);
  expect(step).toMatchObject({ end: { phase: 'Failed' } });
  expect(step?.starts).toBeUndefined();
});

test.each([
  ['fails', (state: ReturnType<typeof openLoops>) => fail(state, 'outer.0.0.1/other')],
  [
    'reaches its timeout',
    (state: ReturnType<typeof openLoops>) => {
      const scope = state.root.loops.get('outer')?.active.get(0)?.scope;
      if (scope) scope.failure = { phase: 'Failed', reason: 'Timeout', message: 'too long' };
    },
  ],
])('a group that %s ends the waits of groups inside of it', (_what, happens) => {
  const nodes = [
    webhook,
    { id: 'outer', group: {}, onError: 'Continue' },
    mail('other', { within: 'outer' }),
    { id: 'inner', group: {}, within: 'outer' },
    pause('inner'),
    mail('after', { within: 'inner' }),
    mail('last', { within: 'outer' }),
  ];
  const state = openLoops(revision(nodes, [...fromTrigger('outer'), { from: 'other', to: 'last' }]), {});
  pass(state);
  expect(state.timers.size).toBe(1);
  const outer = state.root.loops.get('outer')?.active.get(0)?.scope;
  expect(outer?.phases.get('other')).toBe('Running');
  happens(state);
  endNode(state, 'outer.0.0.1/other', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  const step = pass(state);
  expect(phases(step?.checkpoints)).toMatchObject({ outer: 'Failed' });
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
  expect(state.timers.size).toBe(0);
});

test('after the failure of an item no further one starts, and those in progress go on to their end', () => {
  const body = [mail('first', { within: 'each' }), mail('after', { within: 'each' })];
  const state = openLoops(revision([webhook, each(), ...body]), { input: input(9) });
  pass(state);
  endNode(state, 'each.0.0.1/first', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
  succeed(state, 'each.1.0.1/first', text('sent'), NOW);
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.1.0.1/after']);
  succeed(state, 'each.1.0.1/after', text('sent'), NOW);
  expect(pass(state)).toMatchObject({ end: { phase: 'Failed', message: expect.stringContaining('item 0') } });
});

test.each<[string, Partial<RunState>]>([
  ['another branch fails the run', {}],
  ['the run reaches its timeout', { reason: 'RunTimeout' }],
])(
  'an item whose mail is sent while %s has succeeded, so that a resumed run does not repeat it',
  (_what, halted) => {
    const loop = mail('send', { forEach: { items: "{{ $('trigger').data_content.items }}" } });
    const state = openLoops(revision([webhook, loop, mail('other')], fromTrigger('send', 'other')), {
      input: input(3),
    });
    pass(state);
    if (halted.reason) state.halt = { phase: 'Failed', reason: halted.reason, message: 'too long' };
    fail(state, 'other');
    pass(state);
    succeed(state, 'send.0.0.1/send', text('sent'), NOW);
    const step = pass(state);
    expect(step).toMatchObject({ end: { phase: 'Failed' } });
    expect(phases(step?.checkpoints)).toMatchObject({ 'send.0': 'Succeeded', send: 'Cancelled' });
  },
);

test('a loop that another branch stopped has not failed, also with onError: Continue', () => {
  const loop = mail('send', {
    onError: 'Continue',
    forEach: { items: "{{ $('trigger').data_content.items }}" },
  });
  const state = openLoops(revision([webhook, loop, mail('other')], fromTrigger('send', 'other')), {
    input: input(3),
  });
  pass(state);
  fail(state, 'other');
  pass(state);
  succeed(state, 'send.0.0.1/send', text('sent'), NOW);
  const send = pass(state)?.checkpoints?.find(({ id }) => id === 'send');
  expect(send).toMatchObject({ phase: 'Cancelled', items: { succeeded: 1, failed: 0 } });
});
