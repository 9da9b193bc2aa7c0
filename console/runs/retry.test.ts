import { expect, test } from 'vitest';
import type { RunObject } from '../kube/resources.ts';
import { retryProblem } from './retry.ts';

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
