import { describe, expect, test } from 'vitest';
import { REFUSED_CREDENTIALS, REFUSED_PROJECT_SETTINGS } from '../../test/integration/api/refused/others.ts';
import { REFUSED_DURATIONS, REFUSED_WORKFLOWS } from '../../test/integration/api/refused/workflows.ts';
import { checkObject } from './object.ts';

const nodes = [{ id: 'start', manual: {} }];

function objectOf(kind: string, spec: unknown, metadata: unknown = { name: 'default' }) {
  return { apiVersion: 'windlass.dev/v1alpha1', kind, metadata, spec };
}

const messagesOf = (object: Record<string, unknown>) =>
  checkObject(object)
    .problems.map(({ message }) => message)
    .join('\n');

const REFUSED = Object.entries({
  Workflow: [...REFUSED_WORKFLOWS, ...REFUSED_DURATIONS],
  Credential: REFUSED_CREDENTIALS,
  ProjectSettings: REFUSED_PROJECT_SETTINGS,
}).flatMap(([kind, cases]) => cases.map(([what, spec, says]) => [kind, what, spec, says] as const));

describe('an object is refused in the words of the API server', () => {
  test.each(REFUSED)('%s with %s', (kind, _what, spec, says) => {
    expect(messagesOf(objectOf(kind, spec))).toMatch(says);
  });

  test.each([
    ['no name', {}, /metadata\.name: Required value/],
    ['an upper case name', { name: 'Orders' }, /metadata\.name: Invalid value: "Orders"/],
    ['a number as label', { name: 'a', labels: { tier: 1 } }, /value of tier is 1 and must be a string/],
    ['a name that is too long for a label', { name: 'a'.repeat(64) }, /at most 63 characters/],
  ])('a workflow with %s', (_what, metadata, says) => {
    expect(messagesOf(objectOf('Workflow', { nodes }, metadata))).toMatch(says);
  });

  test.each([
    [
      'another version',
      { apiVersion: 'windlass.dev/v1', kind: 'Workflow' },
      /no matches for kind "Workflow"/,
    ],
    ['an unknown kind', { apiVersion: 'windlass.dev/v1alpha1', kind: 'Flow' }, /no matches for kind "Flow"/],
    ['no version', { kind: 'Workflow' }, /apiVersion not set/],
    [
      'no spec',
      { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'a' } },
      /spec: Req/,
    ],
  ])('%s', (_what, object, says) => {
    expect(messagesOf(object)).toMatch(says);
  });

  test('rules of a value are not evaluated while something in it has the wrong type', () => {
    expect(messagesOf(objectOf('Workflow', { nodes: [{ id: 1 }] }))).toBe(
      'spec.nodes[0].id: Invalid value: "integer": spec.nodes[0].id in body must be of type string: "integer"',
    );
  });

  test('a list that is too long is refused without its items', () => {
    const many = Array.from({ length: 10_000 }, () => 1);
    expect(messagesOf(objectOf('Workflow', { nodes: many }))).toBe(
      'spec.nodes: Too many: 10000: must have at most 100 items',
    );
  });
});

test('a valid object has the defaults of its schema, also in place of null', () => {
  const { stored, problems } = checkObject(objectOf('Workflow', { nodes, active: null }));
  expect({ problems, spec: stored?.['spec'] }).toMatchObject({ problems: [], spec: { active: false } });
});

test('a member named constructor is a value as any other', () => {
  const parameters = { url: 'https://a.example', body: { constructor: 'x' } };
  const skill = { id: 'a', skill: { name: 'http_request', parameters } };
  expect(messagesOf(objectOf('Workflow', { nodes: [...nodes, skill] }))).toBe('');
});
