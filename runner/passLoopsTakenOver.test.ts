/**
 * How loops continue after a takeover, after the run store was lost, and in a resumed run.
 */
import { expect, test } from 'vitest';
import { atLeastOnce, each, input, send } from '../test/support/runner/loops.ts';
import {
  NOW,
  open,
  openLoops,
  mail,
  pass,
  phases,
  revision,
  text,
  webhook,
} from '../test/support/runner/passes.ts';
import type { NodeState } from '../runs/types/node.ts';
import type { RunState } from '../runs/types/run.ts';
import { decidePass } from './pass.ts';
import { endNode, succeed } from './transitions.ts';
import { fireTimers, waitsOf } from './waits.ts';

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
const marked = (id: string, crashes?: number): NodeState => ({
  id,
  phase: 'Running',
  attempts: 1,
  startedAt: 800,
  mark: { attempt: 1, atMostOnce: false, ...(crashes !== undefined && { crashes }) },
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

test.each([
  ['keeps the item that failed before', 'Failed', []],
  ['shows the last item where none has failed', 'Succeeded', [{ id: 'send', phase: 'Succeeded', item: 0 }]],
] as const)('after a takeover the record %s', (_what, phase, shown) => {
  const ended = phase === 'Failed' ? { phase, reason: 'Refused', message: 'no' } : { phase };
  const state = openLoops(revision([webhook, each(), atLeastOnce].map(continues)), {
    input: input(2),
    nodes: [done('trigger'), running, { ...done('send'), ...ended, item: 1 }],
    items: [{ ...done('each.1'), ...ended }, marked('each.0.0.1/send')],
  });
  pass(state);
  succeed(state, 'each.0.0.1/send', text('a'), NOW);
  const samples = pass(state)?.checkpoints?.filter(({ item }) => item !== undefined);
  expect(samples).toMatchObject(shown);
});

/** Failed items do not end the loop. */
function continues<Node extends { id: string }>(node: Node): Node {
  return node.id === 'each' ? { ...node, onError: 'Continue' } : node;
}

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

/** It waited for the delay before its next item: in the record it had no mark. */
const betweenItems: NodeState = { ...running, phase: 'Waiting', nextAttemptAt: NOW };

/** The run of a loop over items of a variable. `items`: the counts of its record, in which it is `each`. */
const overVariable = (names: string[], items?: NodeState['items'], node = lost()) => {
  const nodes = items && [done('trigger'), { ...node, items }];
  const plan = revision([
    webhook,
    each({ items: "{{ $vars['names.json'] }}", collect: 'None' }),
    atLeastOnce,
  ]);
  return open(plan, { ...(nodes && { nodes, restored: true }) }, { 'names.json': names });
};

test('after the loss of the run store a loop over items of a variable fails if the variable has changed', () => {
  const { items } = pass(overVariable(['a', 'b', 'c']))?.checkpoints?.find(({ id }) => id === 'each') ?? {};
  const record = { total: 3, succeeded: 1, failed: 0, running: 0, failures: [], ended: 'AQ==' };
  const counts = { ...record, hash: items?.hash ?? '' };
  expect(counts.hash).toMatch(/^[0-9a-f]{16}$/);
  const same = pass(overVariable(['a', 'b', 'c'], counts));
  expect(same?.starts?.map(({ id }) => id)).toEqual(['each.1.0.1/send', 'each.2.0.1/send']);
  for (const node of [lost(), betweenItems]) {
    const step = pass(overVariable(['x', 'a', 'b'], counts, node));
    expect(step?.starts).toBeUndefined();
    expect(step?.end?.message).toContain(
      'DataLost: the run store lost its data, and forEach.items has other items now, because a variable',
    );
  }
});

test('after the loss of the run store a loop between two items is Unknown if nobody knows which have ended', () => {
  const items = { ...COUNTS, running: 0, ended: undefined };
  const nodes = [done('trigger'), { ...betweenItems, items } as NodeState];
  expect(pass(afterLoss([each({ collect: 'None', delay: '1h' }), send], { nodes }))).toMatchObject({
    end: { reason: 'EffectUnknown', message: expect.stringContaining('items 0 to 8 may have been executed') },
  });
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

test('a run store that was rewound gets the rest of the timeout of a group again', () => {
  const group = { id: 'each', group: {}, timeout: '10s' };
  const state = openLoops(revision([webhook, group, atLeastOnce]), {
    nodes: [done('trigger'), running],
    items: [{ id: 'each.0', phase: 'Running', attempts: 1, repeat: 0, nextAttemptAt: NOW + 5_000 }],
  });
  pass(state);
  const [wait, ...more] = waitsOf(state, { isStored: true });
  expect(more).toEqual([]);
  expect(wait?.id).toBe('each.0');
  expect(wait?.leftMs).toBeLessThanOrEqual(5_000);
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
