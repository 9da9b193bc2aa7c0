import { expect, test } from 'vitest';
import type { Condition } from '../../../kube/resource.ts';
import { awaitedIn } from '../../demo/ready.ts';

const condition = (
  type: string,
  status: Condition['status'],
  reason: string,
  message: string,
): Condition => ({ type, status, reason, message, lastTransitionTime: '2026-01-05T09:30:00Z' });

const valid = condition('Valid', 'True', 'Valid', 'The workflow is valid.');
const polled = condition(
  'TriggerHealthy',
  'Unknown',
  'Pending',
  'The account was not polled yet. The first poll starts soon.',
);
const ready = condition('Ready', 'Unknown', 'Pending', 'No poll.');
const long = condition('Ready', 'False', 'CredentialMissing', 'A credential is missing, '.repeat(4));

test.each([
  ['a workflow that nobody has checked', [], 'the operator has not checked it yet'],
  ['one condition', [valid, polled, ready], 'TriggerHealthy: The account was not polled yet'],
  ['no other condition', [valid, ready], 'No poll'],
  ['a long message', [valid, long], 'A credential is missing, A credential is missing, A credenti…'],
])('the demo says what an example waits for: %s', (_what, conditions, text) => {
  expect(awaitedIn(conditions)).toBe(text);
});
