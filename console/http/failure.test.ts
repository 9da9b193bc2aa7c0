import { expect, test } from 'vitest';
import {
  detailBeside,
  failureFrom,
  failureOf,
  missingPermission,
  paragraphOf,
  withoutLongValues,
} from './failure.ts';

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
  [200, 'in front of Windlass'],
  [403, 'in front of Windlass'],
  [404, 'in front of Windlass'],
  [413, 'too large'],
  [429, 'Wait a moment'],
  [502, 'Try again'],
])('a proxy page with status %i has advice', (status, advice) => {
  expect(failureOf(status, '<html>').detail).toContain(advice);
});

const TWO = [
  { field: 'spec.nodes[1].id', message: `Invalid value: "${'a'.repeat(900)}": too long` },
  { field: 'spec.edges', message: 'Required value' },
];
const invalid = (causes: { field: string; message: string }[]) => {
  const list = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  return failureOf(422, {
    kind: 'Status',
    reason: 'Invalid',
    message: `Workflow.windlass.dev "a" is invalid: ${causes.length > 1 ? `[${list}]` : list}`,
    details: { causes },
  });
};

test('what is listed beside a failure is not in its text, too', () => {
  expect(detailBeside(invalid(TWO))).toBe('Workflow.windlass.dev "a" is invalid:');
  expect(detailBeside(invalid(TWO.slice(1)))).toBe(
    'Workflow.windlass.dev "a" is invalid: spec.edges: Required value',
  );
});

test('of several problems one paragraph says the first', () => {
  expect(paragraphOf(invalid(TWO.toReversed()))).toBe(
    'Invalid. spec.edges: Required value, and one more problem.',
  );
  expect(paragraphOf(invalid([...TWO.toReversed(), ...TWO]))).toMatch(/, and 3 more problems\.$/);
  expect(paragraphOf(failureOf(403, undefined))).toMatch(/^The server responded with 403\. The response may/);
});

test.each([
  ['Invalid value: "short": too short', 'Invalid value: "short": too short'],
  [`Invalid value: "${'a'.repeat(900)}": too long`, `Invalid value: "${'a'.repeat(79)}…": too long`],
  [`Invalid value: "${'\\"'.repeat(90)}": odd`, `Invalid value: "${'\\"'.repeat(39)}\\…": odd`],
  ['no value', 'no value'],
])('a refused value is repeated up to 80 characters', (message, shown) => {
  expect(withoutLongValues(message)).toBe(shown);
});

test.each([
  [
    'workflows.windlass.dev is forbidden: User "ada" cannot list resource "workflows" in API group "windlass.dev" in the namespace "shop"',
    'list workflows.windlass.dev in shop',
  ],
  [
    'workflows.windlass.dev "a" is forbidden: User "ada" cannot create resource "workflows/execute" in API group "windlass.dev" in the namespace "shop"',
    'create workflows.windlass.dev/execute in shop',
  ],
  [
    'secrets is forbidden: User "ada" cannot get resource "secrets" in API group "" in the namespace "shop"',
    'get secrets in shop',
  ],
  [
    'namespaces is forbidden: User "ada" cannot list resource "namespaces" in API group "" at the cluster scope',
    'list namespaces',
  ],
  ['pods "a" is forbidden: exceeded quota: small', undefined],
])('the permission that is missing is read from %j', (message, permission) => {
  const failure = failureOf(403, { kind: 'Status', reason: 'Forbidden', message });
  expect(missingPermission(failure)).toBe(permission);
});

test.each([
  ['pods is forbidden: User "ada" cannot list resource "pods" in the namespace "shop"', 'see'],
  ['pods "a" is forbidden: User "ada" cannot delete resource "pods" in the namespace "shop"', 'do'],
  ['pods "a" is forbidden: exceeded quota: small', 'do'],
])('whoever may not read is told so: %j', (message, verb) => {
  const failure = failureOf(403, { kind: 'Status', reason: 'Forbidden', message });
  expect(failure.title).toBe(`You are not allowed to ${verb} this`);
});
