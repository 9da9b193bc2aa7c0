import { expect, test } from 'vitest';
import type { NodePhase, RunPhase } from '../../../api/phase.ts';
import type { RunView } from '../../../api/runView.ts';
import { applyEvent, applyView, NO_RUN, readLiveEvent, type LiveEvent } from './runState.ts';
import type { RunHead } from './nodeView.ts';

const HEAD: RunHead = { run: 'orders-1', workflow: 'shop.orders', phase: 'Pending', test: true };
const node = (phase: NodePhase, attempt: number, at: number): LiveEvent => ({
  type: 'node',
  node: 'agent',
  phase,
  attempt,
  at,
});
const run = (phase: RunPhase, at: number): LiveEvent => ({ type: 'run', phase, at });
const view = (phase: RunPhase, nodes: RunView['nodes'] = []): RunView => ({ ...HEAD, phase, nodes });
const after = (...events: LiveEvent[]) =>
  events.reduce((state, event) => applyEvent(state, HEAD, event), NO_RUN);
const time = (at: number) => new Date(at).toISOString();

test('a node runs, waits for a retry and ends; its time starts with the first attempt', () => {
  const state = after(
    run('Running', 10),
    node('Running', 1, 20),
    node('Waiting', 1, 30),
    node('Running', 2, 40),
    node('Succeeded', 2, 50),
    run('Succeeded', 60),
  );
  expect(state.run).toMatchObject({ phase: 'Succeeded', startTime: time(10), completionTime: time(60) });
  expect(state.nodes.get('agent')).toEqual({
    id: 'agent',
    phase: 'Succeeded',
    attempts: 2,
    startTime: time(20),
    completionTime: time(50),
  });
});

test('an older view does not undo newer events', () => {
  const state = after(node('Running', 1, 20), node('Succeeded', 1, 30), run('Succeeded', 40));
  const shown = applyView(state, view('Running', [{ id: 'agent', phase: 'Running', attempts: 1 }]));
  expect(shown.nodes.get('agent')?.phase).toBe('Succeeded');
  expect(shown.run?.phase).toBe('Succeeded');
  expect(after(node('Running', 2, 20), node('Waiting', 1, 30)).nodes.get('agent')?.phase).toBe('Running');
  expect(after(run('Failed', 20), run('Running', 30)).run?.phase).toBe('Failed');
});

test('outputs come from the view and later events keep them', () => {
  const output = { text_content: 'Hello' };
  const shown = applyView(
    after(node('Succeeded', 1, 20)),
    view('Running', [{ id: 'agent', phase: 'Succeeded', output }]),
  );
  expect(shown.nodes.get('agent')?.output).toEqual(output);
  expect(applyEvent(shown, HEAD, node('Succeeded', 1, 30)).nodes.get('agent')?.output).toEqual(output);
});

test.each([
  ['run', '{"phase":"Running","at":5}', { type: 'run', phase: 'Running', at: 5 }],
  [
    'node',
    '{"node":"a","phase":"Failed","attempt":1,"reason":"Timeout","message":"too slow","at":5}',
    { type: 'node', node: 'a', phase: 'Failed', attempt: 1, reason: 'Timeout', message: 'too slow', at: 5 },
  ],
  ['text', '{"node":"a","text":"Hi","at":5}', { type: 'text', node: 'a', text: 'Hi' }],
  ['text', '{"node":"a","at":5}', undefined],
  ['run', '{"phase":"Flying","at":5}', undefined],
  ['node', '{"phase":"Failed","at":5}', undefined],
  ['tool', '{"node":"a","phase":"Failed","at":5}', undefined],
  ['run', 'no JSON', undefined],
  ['run', 'null', undefined],
])('the event "%s" with %s is parsed', (event, data, read) => {
  expect(readLiveEvent({ id: '1', event, data })).toEqual(read);
});

test('the counts of a loop are live, never go back, and keep the known failures', () => {
  const counts = (succeeded: number, failed = 0) => ({ total: 10, succeeded, failed, running: 1 });
  const items = (succeeded: number): LiveEvent => ({
    type: 'items',
    node: 'agent',
    items: counts(succeeded),
    at: 1,
  });
  const read = readLiveEvent({
    id: '1',
    event: 'items',
    data: JSON.stringify({ node: 'agent', items: counts(3), at: 1 }),
  });
  expect(read).toEqual(items(3));
  expect(readLiveEvent({ id: '1', event: 'items', data: '{"node":"agent","items":{}}' })).toBeUndefined();
  const failures = [{ index: 0, reason: 'Refused', message: 'no' }];
  const running = {
    id: 'agent',
    phase: 'Running' as const,
    attempts: 1,
    items: { ...counts(1, 1), failures },
  };
  const state = applyView(after(node('Running', 1, 20)), view('Running', [running]));
  const later = applyEvent(state, HEAD, items(3));
  expect(later.nodes.get('agent')).toMatchObject({ items: { succeeded: 3, failures } });
  expect(applyEvent(later, HEAD, items(2))).toBe(later);
  expect(applyEvent(later, HEAD, node('Succeeded', 1, 50)).nodes.get('agent')?.items?.succeeded).toBe(3);
});
