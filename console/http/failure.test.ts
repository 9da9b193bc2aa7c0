import { expect, test } from 'vitest';
import { failureFrom, failureOf } from './failure.ts';

test('a Kubernetes Status becomes a failure with the causes by field', () => {
  const failure = failureOf(422, {
    kind: 'Status',
    reason: 'Invalid',
    message: 'Workflow "a" is invalid',
    details: { causes: [{ field: 'spec.nodes[1]', message: 'a node must have exactly one kind' }] },
  });
  expect(failure).toMatchObject({
    status: 422,
    reason: 'Invalid',
    title: 'Invalid',
    causes: [{ field: 'spec.nodes[1]', message: 'a node must have exactly one kind' }],
  });
});

test('a problem keeps its title, detail and type', () => {
  const type = 'tag:windlass.dev,2026:problem/too-many-runs';
  expect(failureOf(429, { type, title: 'The workflow is at its limit', detail: 'Try later.' })).toMatchObject(
    {
      title: 'The workflow is at its limit',
      detail: 'Try later.',
      reason: 'too-many-runs',
    },
  );
});

test.each([undefined, 'text', null, [], {}])('a response with %j reports at least its status', (body) => {
  expect(failureOf(502, body).title).toBe('The server responded with 502');
});

test('an exception in the page is a failure', () => {
  expect(failureFrom(new Error('boom')).detail).toBe('boom');
});

test.each([
  [200, 'in front of the gateway'],
  [403, 'in front of the gateway'],
  [404, 'in front of the gateway'],
  [413, 'too large'],
  [429, 'Wait a moment'],
  [502, 'Try again'],
])('a proxy page with status %i has advice', (status, advice) => {
  expect(failureOf(status, '<html>').detail).toContain(advice);
});
