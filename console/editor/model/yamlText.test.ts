import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { stepsTo } from '../../../api/fieldPath.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { placeOf, readText, textOf, withSpec } from './yamlText.ts';

const examples = join(import.meta.dirname, '../../../examples');
const specs = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }): [string, WorkflowSpec] => {
    const text = readFileSync(join(examples, name, 'workflow.yaml'), 'utf8');
    const documents = parseAllDocuments(text).map(
      (document) => document.toJS() as { kind: string; spec: WorkflowSpec },
    );
    const found = documents.find(({ kind }) => kind === 'Workflow');
    if (found === undefined) throw new Error(`${name} has no workflow`);
    return [name, found.spec];
  });

test.each(specs)('the example %s is the same after conversion to YAML and back', (name, spec) => {
  const { active: _active, suspend: _suspend, ...edited } = spec;
  expect(readText(textOf(name, spec), name)).toMatchObject({ spec: edited, ignored: [] });
});

test('the text has no active and suspend, and says of both that no draft keeps them', () => {
  const shown = textOf('orders', { active: true, suspend: true, nodes: [{ id: 'a', manual: {} }] });
  expect(shown).not.toMatch(/active|suspend/);
  const text = `${shown}  active: false\n  suspend: false\n`;
  const reading = readText(text, 'orders');
  if (!('ignored' in reading)) throw new Error('it should be readable');
  const marked = reading.ignored.map(({ from }) => text.slice(0, from).split('\n').length);
  expect(marked.map((line) => text.split('\n')[line - 1]?.trim())).toEqual([
    'active: false',
    'suspend: false',
  ]);
  const draft = { spec: { active: true, nodes: [{ id: 'a', manual: {} }] }, positions: {} };
  expect(withSpec(draft, reading.spec)).toBe(draft);
});

const body = (text: string) =>
  `apiVersion: windlass.dev/v1alpha1\nkind: Workflow\nmetadata:\n  name: orders\n${text}`;

test.each([
  [body('spec: {}'), 'spec.nodes must be a list of nodes.', 5],
  [body('spec:\n  nodes:\n    - manual: {}'), 'A node needs an ID.', 7],
  [
    body('spec:\n  nodes:\n    - { id: a, manual: {} }\n    - { id: a, response: {} }'),
    'Another node already has the ID a.',
    8,
  ],
  [
    body('spec:\n  nodes: [{ id: a, manual: {} }]\n  edges: [{ from: a, to: z }]'),
    'An edge needs "from" and "to"',
    7,
  ],
  [
    body('spec:\n  nodes:\n    - id: a\n      manual: {}\n    - id: b\n      skill:\n'),
    'skill must be an object.',
    10,
  ],
  [body('spec: { nodes: [] }').replace('orders', 'other'), 'The name cannot be changed from orders', 4],
  [
    body('spec:\n  nodes:\n    - id: a\n      schedule:\n        cron: */5'),
    'Text that begins with * needs quotation marks: "*/5"',
    9,
  ],
  [body('spec:\n  nodes:\n    - *a'), 'Text that begins with * needs quotation marks: "*a"', 7],
])('the mistake in %j is reported at its line', (text, words, line) => {
  const reading = readText(text, 'orders');
  const [first] = 'mistakes' in reading ? reading.mistakes : [];
  expect(first?.message).toContain(words);
  expect(text.slice(0, first?.from).split('\n')).toHaveLength(line);
});

const nodes = (more: string) => body(`spec:\n  nodes: [{ id: a, manual: {}, x: ${more} }]`);

test.each([
  ['aliases that stand for very much', nodes(`[&a [1], ${'*a, '.repeat(200)}1]`)],
  ['lists in lists without an end', nodes('['.repeat(50_000))],
  ['lists that are too deep', nodes(`${'['.repeat(300)}${']'.repeat(300)}`)],
  ['a list in itself', nodes('&a [1, *a]')],
  ['a merge of what is no map', `%YAML 1.1\n---\n${nodes('{ <<: [1] }')}`],
])('a text with %s has a mistake', (_what, text) => {
  expect(readText(text, 'orders')).toHaveProperty('mistakes');
});

test('a problem of a field is located at its value or its deepest existing parent', () => {
  const text = textOf('orders', { active: false, nodes: [{ id: 'a', webhook: { path: 'x' } }] });
  const reading = readText(text, 'orders');
  if (!('document' in reading)) throw new Error('it should be readable');
  const at = (field: string) =>
    text.slice(...placeOf(reading.document, ['spec', 'nodes', 0, ...stepsTo(field)]));
  expect(at('webhook.path')).toBe('x');
  expect(at('webhook.auth.hmac')).toContain('path: x');
});

test('existing nodes keep their positions when the text changes, and new ones get a place', () => {
  const draft = {
    spec: { active: false, nodes: [{ id: 'a', manual: {} }] },
    positions: { a: { x: 7, y: 7 } },
  };
  const next = withSpec(draft, {
    nodes: [
      { id: 'a', manual: {} },
      { id: 'b', response: { body: 1 } },
      { id: 'constructor', response: { body: 1 } },
    ],
  });
  expect(next.positions['a']).toEqual({ x: 7, y: 7 });
  expect(Object.keys(next.positions)).toEqual(['a', 'b', 'constructor']);
  expect(withSpec(draft, structuredClone(draft.spec))).toBe(draft);
});
