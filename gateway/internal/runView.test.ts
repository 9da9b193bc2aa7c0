import { expect, test } from 'vitest';
import type { WorkflowRun } from '../../api/kinds.ts';
import { viewRecord } from './runView.ts';

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
