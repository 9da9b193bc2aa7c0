import { expect, test } from 'vitest';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { RunState } from '../../runs/types/run.ts';
import { viewRecord, viewState } from './runView.ts';

test('a run read from the run store has the counts of its loops and the names of child runs', () => {
  const items = { total: 3, succeeded: 1, failed: 0, running: 2, failures: [] };
  const state = {
    run: 'one',
    phase: 'Waiting',
    acceptedAt: 0,
    nodes: [
      { id: 'each', phase: 'Running', attempts: 1, items },
      { id: 'call', phase: 'Running', attempts: 1, item: 2, run: 'child-1' },
    ],
  } as unknown as RunState;
  expect(viewState('shop', state, undefined).nodes).toMatchObject([
    { id: 'each', items },
    { id: 'call', item: 2, run: 'child-1' },
  ]);
});

test('a run read from its record has the digits that the API server rounded', () => {
  const record: WorkflowRun = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name: 'one', namespace: 'shop' },
    spec: { workflow: 'orders' },
    status: {
      phase: 'Succeeded',
      nodes: [
        { id: 'bare', phase: 'Skipped' },
        {
          id: 'exact',
          phase: 'Succeeded',
          output: {
            text_content: '',
            data_content: { id: 12_345_678_901_234_567_000 },
            exact: { '/data_content/id': '12345678901234567890' },
          },
        },
      ],
    },
  };
  expect(JSON.stringify(viewRecord(record).nodes)).toBe(
    '[{"id":"bare","phase":"Skipped"},{"id":"exact","phase":"Succeeded","output":{"text_content":"","data_content":{"id":12345678901234567890}}}]',
  );
});

test('a run that was created as an object has the trigger of its status', () => {
  const record: WorkflowRun = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name: 'one', namespace: 'shop' },
    spec: { workflow: 'orders', test: true },
    status: { phase: 'Succeeded', trigger: 'execute' },
  };
  expect(viewRecord(record).trigger).toBe('execute');
});
