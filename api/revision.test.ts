import { expect, test } from 'vitest';
import { replies, revisionOf } from './revision.ts';
import type { WorkflowSpec } from './workflow.ts';

const spec = (extra: Partial<WorkflowSpec> = {}): WorkflowSpec => ({
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'orders' } },
    { id: 'agent_1', agent: { credential: 'llm', model: 'm', prompt: 'p' } },
    { id: 'reply', response: { status: 201 } },
  ],
  ...extra,
});

test('every default is filled in', () => {
  const { steps, timeoutMs, trigger } = revisionOf(spec());
  expect(trigger).toEqual({
    id: 'trigger',
    kind: 'webhook',
    testData: { text_content: '', data_content: {} },
  });
  expect(timeoutMs).toBe(3_600_000);
  expect(steps[0]).toMatchObject({
    id: 'agent_1',
    kind: 'agent',
    timeoutMs: 600_000,
    retry: { limit: 0, initialMs: 1000, factor: 2, maxMs: 60_000 },
    onError: 'Fail',
  });
  expect(steps[1]).toMatchObject({ id: 'reply', kind: 'response', timeoutMs: 60_000 });
});

test('without edges the nodes form a chain', () => {
  expect(revisionOf(spec()).edges).toEqual([
    { from: 'trigger', to: 'agent_1', after: 'Success' },
    { from: 'agent_1', to: 'reply', after: 'Success' },
  ]);
});

test('an empty list of edges is no chain', () => {
  expect(revisionOf(spec({ edges: [] })).edges).toEqual([]);
});

test('what a run does not execute does not make a new revision', () => {
  const other = spec({ displayName: 'A', active: false, history: { succeeded: 1 } });
  expect(revisionOf(other)).toEqual(revisionOf(spec()));
});

test('the test data of a manual trigger is the data itself, of others it is an output', () => {
  const manual = revisionOf(spec({ nodes: [{ id: 't', manual: { testData: { order: 7 } } }] }));
  expect(manual.trigger.testData).toEqual({ text_content: '', data_content: { order: 7 } });
  const webhook = revisionOf(
    spec({ nodes: [{ id: 't', webhook: { path: 'x', testData: { data_content: [1] } } }] }),
  );
  expect(webhook.trigger.testData).toEqual({ text_content: '', data_content: [1] });
});

test('only a workflow with a response node replies', () => {
  expect(replies(revisionOf(spec()))).toBe(true);
  expect(replies(revisionOf(spec({ nodes: [{ id: 't', manual: {} }] })))).toBe(false);
});
