import { expect, test } from 'vitest';
import type { RunObject } from '../kube/resources.ts';
import { newRunName, retryProblem } from './retry.ts';

const REDACTED = { inputTruncated: true, inputRedacted: true };
const output = { text_content: '', data_content: { item: 'desk' } };
const PARTIAL = { 'windlass.dev/partial-input': 'true' };

test.each<[string, object, object | undefined, Record<string, string>, RegExp]>([
  ['with its input', {}, undefined, {}, /^$/],
  ['with the beginning of its input', { inputTruncated: true }, undefined, {}, /truncated/],
  ['without its input', REDACTED, undefined, {}, /does not record inputs/],
  ['that shows its input as the output of its trigger', REDACTED, { output }, {}, /^$/],
  ['that shows a part of it', REDACTED, { output, truncated: true }, {}, /does not record inputs/],
  ['that was given headers, too', REDACTED, { output }, PARTIAL, /does not record inputs/],
])('a record %s', (_what, spec, node, annotations, problem) => {
  const run: RunObject = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name: 'orders-1', annotations },
    spec: { workflow: 'orders', ...spec },
    status: { phase: 'Failed', ...(node && { nodes: [{ id: 'trigger', phase: 'Succeeded', ...node }] }) },
  };
  expect(retryProblem(run) ?? '').toMatch(problem);
});

test('the name of a retried run is the same for each request of an attempt, and sorts by its time', () => {
  const attempt = { id: '9b2f7c1e-0000-4000-8000-000000000000', at: 1_767_000_000_000 };
  const name = newRunName('orders', attempt);
  expect(name).toMatch(/^orders-[0-9a-z]{9}\d{6}$/);
  expect(newRunName('orders', { ...attempt })).toBe(name);
  expect(newRunName('orders', { ...attempt, at: attempt.at + 1 }) > name).toBe(true);
  expect(newRunName('orders', { ...attempt, id: '1b2f7c1e-0000-4000-8000-000000000000' })).not.toBe(name);
});
