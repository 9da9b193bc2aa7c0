import { expect, test } from 'vitest';
import { manifestText, readDocuments } from './documents.ts';
import { manifestOf } from './manifest.ts';

const workflow = `apiVersion: windlass.dev/v1alpha1
kind: Workflow
metadata:
  name: orders
  namespace: elsewhere
  uid: u
  resourceVersion: "3"
  labels: { team: a }
spec:
  nodes:
    - id: trigger
      manual: {}
    - id: reply
      response:
        status: 201
status: { id: x }
`;

function onlyOne(text: string) {
  const reading = readDocuments(text);
  if (!reading.ok || reading.workflows[0] === undefined) throw new Error(JSON.stringify(reading));
  return { ...reading.workflows[0], others: reading.others };
}

test('name, labels and spec of a workflow are read, but no fields of the server', () => {
  const { name, marks, spec } = onlyOne(workflow);
  expect({ name, marks }).toEqual({ name: 'orders', marks: { labels: { team: 'a' } } });
  expect(spec.nodes.map(({ id }) => id)).toEqual(['trigger', 'reply']);
});

test('a bare spec and JSON are read', () => {
  expect(onlyOne('nodes:\n  - id: trigger\n    manual: {}').spec.nodes).toHaveLength(1);
  expect(onlyOne('{"kind": "Workflow", "metadata": {"name": "a"}, "spec": {"nodes": []}}').name).toBe('a');
});

test('workflows are read from several objects, and the others are listed', () => {
  const others =
    'kind: Secret\nmetadata: { name: accounts }\n---\nkind: Credential\nmetadata: { name: model }\n';
  expect(onlyOne(`${others}---\n${workflow}`).others).toEqual(['Secret accounts', 'Credential model']);
  const two = readDocuments(`${workflow}---\n${workflow}`);
  expect(two.ok && two.workflows).toHaveLength(2);
});

test.each([
  ['spec.nodes[1].response.status', 15],
  ['spec.nodes[1].response.nothing', 15],
  ['spec.nodes[0]', 11],
  ['metadata.name', 4],
  ['elsewhere', undefined],
])('the field %s is in line %s', (field, line) => {
  expect(onlyOne(workflow).lineOf(field)).toBe(line);
});

test('lines count from the start of the text, also in a bare spec', () => {
  expect(onlyOne(`kind: Secret\n---\n${workflow}`).lineOf('spec.nodes[0].id')).toBe(13);
  expect(onlyOne('\nnodes:\n  - id: trigger').lineOf('spec.nodes[0].id')).toBe(3);
});

test.each([
  ['a: [1', 1, /./],
  ['a: 1\nb:\n\t- c', 3, /[Tt]ab/],
  ['', undefined, /No workflow of Windlass found/],
  ['just text', undefined, /No workflow of Windlass found/],
  ['kind: Secret', undefined, /No workflow of Windlass found/],
  ['kind: Workflow\nspec: []', undefined, /no spec/],
  ["curl -X POST 'https://api.example.com/v1'", undefined, /curl command.*paste it on the canvas/],
])('the mistake in %j is reported in line %s', (text, line, message) => {
  const reading = readDocuments(text);
  expect(reading).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  expect(reading.ok || 'isN8n' in reading ? undefined : reading.line).toBe(line);
});

test('a workflow of n8n is recognized', () => {
  expect(readDocuments('{"nodes": [], "connections": {}}')).toEqual({ ok: false, isN8n: true });
});

test('recursive aliases are not expanded', () => {
  const bomb = [
    'a: &a [x]',
    ...'bcdefghij'.split('').map((key, at) => {
      const before = 'abcdefghij'[at];
      return `${key}: &${key} [${`*${before},`.repeat(9)}*${before}]`;
    }),
  ].join('\n');
  expect(readDocuments(bomb).ok).toBe(false);
});

test('an exported manifest reads back as the same workflow', () => {
  const { name, spec } = onlyOne(workflow);
  const again = onlyOne(manifestText(manifestOf({ metadata: { name }, spec })));
  expect(again).toMatchObject({ name, spec });
});
