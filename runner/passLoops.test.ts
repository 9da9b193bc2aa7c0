/** How loops are scheduled, and how they continue after their runner died. */
import { expect, test } from 'vitest';
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
import type { NodeState, RunState } from '../runs/types.ts';
import { decidePass } from './pass.ts';
import { endNode, succeed } from './transitions.ts';
import { fireTimers } from './waits.ts';
import { refuseOutputs } from './changes.ts';
import { AttemptLimit } from './attemptLimit.ts';

const each = (extra: object = {}) => ({
  id: 'each',
  group: {},
  forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 2, ...extra },
});
const send = mail('send', { within: 'each' });
const done = (id: string, more: Partial<NodeState> = {}): NodeState => ({
  id,
  phase: 'Succeeded',
  attempts: 1,
  startedAt: 1,
  endedAt: 2,
  output: { text_content: '', data_content: id },
  ...more,
});
const running: NodeState = { id: 'each', phase: 'Running', attempts: 1, startedAt: 700 };
const input = (count: number) =>
  JSON.stringify({ text_content: '', data_content: { items: Array.from({ length: count }, (_, n) => n) } });
const marked = (id: string, crashes?: number): NodeState => ({
  id,
  phase: 'Running',
  attempts: 1,
  startedAt: 800,
  mark: { attempt: 1, atMostOnce: false, ...(crashes !== undefined && { crashes }) },
});
const atLeastOnce = mail('send', { within: 'each', effect: 'AtLeastOnce' });

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

test('after a takeover ended items are not repeated, and items in progress repeat their attempt', () => {
  const items = [done('each.0'), marked('each.1.0.1/send')];
  const state = openLoops(revision([webhook, each(), atLeastOnce]), {
    input: input(3),
    nodes: [done('trigger'), running],
    items,
  });
  expect(pass(state)?.starts?.map(({ id, attempt }) => `${id} ${attempt}`)).toEqual([
    'each.1.0.1/send 1',
    'each.2.0.1/send 1',
  ]);
});

test('after a takeover an item without stored state starts, also if a later item had started', () => {
  const state = openLoops(revision([webhook, each(), atLeastOnce]), {
    input: input(3),
    nodes: [done('trigger'), running],
    items: [marked('each.1.0.1/send')],
  });
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.1.0.1/send', 'each.0.0.1/send']);
});

test('after a takeover an item that waits for its next execution is not started beside it', () => {
  const group = { ...each(), retry: { limit: 1, backoff: { initial: '1h', max: '1h' } } };
  const waiting = { id: 'each.0', phase: 'Waiting', attempts: 2, repeat: 0, reason: 'Refused' } as const;
  const state = openLoops(revision([webhook, group, atLeastOnce]), {
    input: input(3),
    nodes: [done('trigger'), running],
    items: [{ ...waiting, nextAttemptAt: NOW + 60_000 }],
  });
  expect(pass(state)?.starts?.map(({ id }) => id)).toEqual(['each.1.0.1/send']);
});

test('an item whose effect must not be repeated becomes Unknown after a takeover, and fails the run', () => {
  const mark = { attempt: 1, atMostOnce: true };
  const state = openLoops(revision([webhook, each(), send]), {
    input: input(2),
    nodes: [done('trigger'), running],
    items: [{ ...marked('each.0.0.1/send'), mark }],
  });
  expect(pass(state)).toMatchObject({ end: { phase: 'Failed', reason: 'EffectUnknown' } });
});

test('an item during which three runners died fails, and with onError: Continue the others go on', () => {
  const state = openLoops(revision([webhook, { ...each(), onError: 'Continue' }, atLeastOnce]), {
    input: input(2),
    nodes: [done('trigger'), running],
    items: [marked('each.0.0.1/send', 2)],
  });
  const step = pass(state);
  expect(step?.checkpoints).toContainEqual(expect.objectContaining({ id: 'each.0', reason: 'Poison' }));
  expect(step?.starts?.map(({ id }) => id)).toEqual(['each.1.0.1/send']);
});

test('a restored run does not repeat items that had ended, and says that their results are lost', () => {
  const counts = { total: 3, succeeded: 2, failed: 0, running: 0, failures: [], ended: 'Aw==' };
  const restored = (collect: string) =>
    openLoops(revision([webhook, each({ collect }), atLeastOnce]), {
      input: input(3),
      restored: true,
      nodes: [done('trigger'), { ...running, items: counts }],
      items: [],
    });
  expect(pass(restored('None'))?.starts?.map(({ id }) => id)).toEqual(['each.2.0.1/send']);
  expect(pass(restored('Results'))).toMatchObject({
    end: { phase: 'Failed', message: expect.stringContaining('DataLost') },
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

const COUNTS = { total: 9, succeeded: 2, failed: 0, running: 2, failures: [], ended: 'BQA=' };
const lost = (items: object = {}): NodeState => ({
  ...running,
  items: { ...COUNTS, ...items },
  mark: { attempt: 1, atMostOnce: false },
});
/** A run whose run store was lost while its loop was in progress. */
const afterLoss = (nodes: object[], more: Partial<RunState> = {}) =>
  openLoops(revision([webhook, ...nodes]), {
    input: input(9),
    restored: true,
    nodes: [done('trigger'), lost()],
    items: [],
    ...more,
  });

test.each<[string, object[], Partial<RunState>, object]>([
  [
    'whose effect must not be repeated ends Unknown, and lists all items that may have started',
    [each({ collect: 'None' }), send],
    { doubt: true },
    { reason: 'EffectUnknown', message: expect.stringContaining('items 1, 3 to 8 may have been executed') },
  ],
  [
    'of a parked run lists only the items that were in progress',
    [each({ collect: 'None' }), send],
    {},
    { reason: 'EffectUnknown', message: expect.stringContaining('items 1, 3 may have been executed') },
  ],
  [
    'that had not begun in the record lists all items',
    [each(), send],
    { doubt: true, nodes: [done('trigger')] },
    { reason: 'EffectUnknown', message: expect.stringContaining('items 0 to 8 may have been executed') },
  ],
  [
    'whose array has changed fails, because nobody knows which items have ended',
    [each({ collect: 'None' }), atLeastOnce],
    { input: input(8) },
    { reason: 'NodeFailed', message: expect.stringContaining('has 8 items now instead of 9') },
  ],
  [
    'that collects results fails, because they are lost',
    [each(), atLeastOnce],
    {},
    { reason: 'NodeFailed', message: expect.stringContaining('DataLost') },
  ],
])('after the loss of the run store a loop %s', (_what, nodes, more, end) => {
  const step = pass(afterLoss(nodes, more));
  expect(step?.starts).toBeUndefined();
  expect(step?.end).toMatchObject({ phase: 'Failed', ...end });
});

test('after the loss of the run store a loop of a parked run without items in progress continues', () => {
  const state = afterLoss([each({ collect: 'None' }), send], {
    nodes: [done('trigger'), lost({ running: 0 })],
  });
  expect(pass(state)).toMatchObject({
    starts: [{ id: 'each.1.0.1/send' }, { id: 'each.3.0.1/send' }],
    checkpoints: [{ id: 'each', phase: 'Running', items: { succeeded: 2, ended: 'BQA=' } }],
  });
});

test('after the loss of the run store a group in progress does not repeat an effect that must not be repeated', () => {
  const group = { id: 'each', group: {} };
  const state = afterLoss([group, send], {
    nodes: [done('trigger'), { ...lost(), items: undefined }],
  });
  expect(pass(state)).toMatchObject({ end: { phase: 'Failed', reason: 'EffectUnknown' } });
});

test('failed items beyond those that the record lists still count as failed', () => {
  const failures = [{ index: 0, reason: 'Refused', message: 'no' }];
  const nodes = [{ ...each({ collect: 'None' }), onError: 'Continue' }, atLeastOnce];
  const state = afterLoss(nodes, {
    nodes: [done('trigger'), lost({ succeeded: 1, failed: 2, running: 0, failures, ended: 'BwA=' })],
  });
  expect(pass(state)?.checkpoints?.[0]).toMatchObject({ items: { succeeded: 1, failed: 2, failures } });
});

test('the timeout of a group goes on after a takeover', () => {
  const group = { id: 'each', group: {}, timeout: '10s' };
  const after = (nextAttemptAt: number) => {
    const state = openLoops(revision([webhook, group, atLeastOnce]), {
      nodes: [done('trigger'), running],
      items: [
        { id: 'each.0', phase: 'Running', attempts: 1, repeat: 0, nextAttemptAt },
        marked('each.0.0.1/send'),
      ],
    });
    pass(state);
    fireTimers(state);
    return state;
  };
  expect(after(NOW + 5_000).expired).toEqual([]);
  const state = after(NOW - 1);
  expect(state.expired.map(({ path }) => path)).toEqual(['each.0.0.1']);
  endNode(state, 'each.0.0.1/send', { phase: 'Failed', reason: 'Timeout', message: 'late' }, NOW);
  expect(pass(state)?.end?.message).toBe(
    'node each: Timeout: the group took longer than its timeout of 10 s',
  );
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

test('a loop in progress whose effect must not be repeated becomes Unknown also where another node has failed', () => {
  const loop = { ...send, within: undefined, forEach: { items: "{{ $('trigger').data_content.items }}" } };
  const nodes = [webhook, loop, mail('other')];
  const edges = [
    { from: 'trigger', to: 'send' },
    { from: 'trigger', to: 'other' },
  ];
  const failed = { id: 'other', phase: 'Failed', attempts: 1, reason: 'Refused', message: 'no' } as const;
  const mark = { attempt: 1, atMostOnce: true };
  const state = openLoops(revision(nodes, edges), {
    input: input(2),
    nodes: [done('trigger'), { ...running, id: 'send' }, failed],
    items: [{ ...marked('send.0.0.1/send'), mark }],
  });
  const step = pass(state);
  expect(step).toMatchObject({ end: { phase: 'Failed' } });
  expect(phases(step?.checkpoints?.filter(({ id }) => id === 'send'))).toEqual({ send: 'Unknown' });
});

test('after a takeover of a cancelled run an inner loop is Unknown whose effect must not be repeated', () => {
  const nodes = [
    webhook,
    { id: 'outer', group: {} },
    { id: 'list', within: 'outer', skill: { name: 'set', parameters: { values: { items: '[1, 2]' } } } },
    {
      ...mail('inner', { within: 'outer' }),
      forEach: { items: "{{ $('list').data_content.items }}" },
    },
  ];
  const state = openLoops(revision(nodes), {
    nodes: [done('trigger'), { ...running, id: 'outer' }],
    items: [
      { ...running, id: 'outer.0.0.1/inner' },
      { ...marked('outer.0.0.1/inner.0.0.1/inner'), mark: { attempt: 1, atMostOnce: true } },
    ],
  });
  state.halt = { phase: 'Cancelled', reason: 'Cancelled', message: 'the run was cancelled' };
  const step = pass(state);
  expect(step).toMatchObject({ end: { phase: 'Cancelled' } });
  expect(phases(step?.checkpoints)).toMatchObject({ inner: 'Unknown' });
});

test.each<[string, object]>([
  ['has a timeout', { timeout: '1h' }],
  ['is retried', { retry: { limit: 1, backoff: { initial: '1h', max: '1h' } } }],
])('after a takeover an execution of repeat that %s reads the execution before', (_what, options) => {
  const group = { id: 'again', group: {}, repeat: { until: 'false', limit: 9 }, ...options };
  const body = [
    { id: 'n', within: 'again', skill: { name: 'set', parameters: { values: 'previous.data_content' } } },
    mail('send', { within: 'again', effect: 'AtLeastOnce' }),
    { id: 'count', within: 'again', skill: { name: 'set', parameters: { values: { n: '1' } } } },
  ];
  const plan = revision([webhook, group, ...body]);
  const state = openLoops(plan, {});
  const stored = new Map<string, NodeState>();
  const step = () => {
    for (const node of pass(state)?.checkpoints ?? []) if (node.id === 'again.0') stored.set(node.id, node);
  };
  step();
  succeed(state, 'again.0.0.1/send', text('a'), NOW);
  step();
  step();
  if ('retry' in options) {
    endNode(state, 'again.0.1.1/send', { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
    step();
  }
  expect(stored.get('again.0')).toMatchObject({ repeat: 1 });
  const again = openLoops(plan, {
    nodes: [done('trigger'), { ...running, id: 'again' }],
    items: [...stored.values()],
  });
  pass(again);
  fireTimers(again);
  pass(again);
  const loop = again.root.loops.get('again');
  expect(loop?.active.get(0)?.previous).toEqual({ n: 1 });
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

test('after a takeover repeat knows that it no longer collects', () => {
  const plan = revision([
    webhook,
    {
      id: 'again',
      skill: { name: 'set', parameters: { values: { n: '1' } } },
      repeat: { until: 'true', limit: 9, collect: 'Results' },
    },
  ]);
  const end = (collected: unknown[]) => {
    const nodes = [done('trigger'), { ...running, id: 'again' }];
    const item: NodeState = { id: 'again.0', phase: 'Running', attempts: 1, repeat: 2, collected };
    return pass(openLoops(plan, { nodes, items: [item] }))?.end;
  };
  expect(end([1, 2])).toMatchObject({ phase: 'Succeeded' });
  expect(end([])?.message).toMatch(/OutputTooLarge/);
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

test('a loop that a resumed run continues starts when it is opened', () => {
  const { startedAt: _earlier, ...resumed } = running;
  const state = openLoops(revision([webhook, each(), send]), {
    input: input(2),
    nodes: [done('trigger'), resumed],
    items: [done('each.0')],
  });
  pass(state);
  succeed(state, 'each.1.0.1/send', text('b'), NOW + 5_000);
  const step = decidePass(state, NOW + 5_000, Infinity);
  expect(step?.checkpoints?.find(({ id }) => id === 'each')).toMatchObject({
    phase: 'Succeeded',
    startedAt: NOW,
    endedAt: NOW + 5_000,
  });
});

test('after a takeover a loop knows that it no longer collects', () => {
  const { output: _output, ...withoutOutput } = done('each.1');
  const state = openLoops(revision([webhook, each(), atLeastOnce]), {
    input: input(2),
    nodes: [done('trigger'), running],
    items: [done('each.0'), withoutOutput],
  });
  expect(pass(state)?.end).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('OutputTooLarge: all 2 items have ended'),
  });
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
