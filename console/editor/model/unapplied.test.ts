import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { renameNode } from './model.ts';
import { currentTexts, restoredTexts, storedTexts, unappliedAt, withRenamed, withText } from './unapplied.ts';

const specWith = (body?: unknown, name = 'http_request', id = 'call'): WorkflowSpec => ({
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id, skill: { name, parameters: { url: 'https://a.example', ...(body !== undefined && { body }) } } },
  ],
});
const spec = specWith();
const at = { node: 'call', field: 'skill.parameters.body', spec };
const typed = { text: '{"a": }', message: 'Invalid JSON.' };

test('a text that cannot be applied is kept for its field until the text is valid', () => {
  const texts = withText([], at, typed);
  expect(unappliedAt(texts, at)).toBe('{"a": }');
  expect(unappliedAt(texts, { ...at, field: 'skill.parameters.url' })).toBeUndefined();
  const next = withText(texts, at, { ...typed, text: '{"a": {' });
  expect(next).toHaveLength(1);
  expect(unappliedAt(next, at)).toBe('{"a": {');
  expect(withText(next, at, undefined)).toEqual([]);
});

test.each([
  ['another value', specWith({ a: 1 })],
  ['another skill', specWith(undefined, 'send_email')],
  ['no node of this name any more', specWith(undefined, 'http_request', 'other')],
])('the text of a field is no problem any more once the field has %s', (_what, now) => {
  const texts = withText([], at, typed);
  expect(currentTexts(texts, spec)).toHaveLength(1);
  expect(currentTexts(texts, now)).toEqual([]);
  expect(unappliedAt(texts, { ...at, spec: now })).toBeUndefined();
});

const loopWith = (more: object): WorkflowSpec => ({
  active: false,
  nodes: [spec.nodes[0]!, { ...spec.nodes[1]!, ...more }],
});

test('the text of a part that was removed is no problem, and is back with the part', () => {
  const before = loopWith({ repeat: { until: 'true' } });
  const texts = withText([], { node: 'call', field: 'repeat.initial', spec: before }, typed);
  expect(currentTexts(texts, loopWith({ repeat: { until: 'false' } }))).toHaveLength(1);
  expect(currentTexts(texts, spec)).toEqual([]);
  expect(currentTexts(texts, before)).toHaveLength(1);
});

test.each([
  ['is first of two', ['a', 'b'], 0, ['a'], 1],
  ['has another name', ['a', 'b'], 1, ['a', 'c'], 1],
  ['was removed', ['a', 'b'], 1, ['a'], 0],
  ['has another one in its place', ['a', 'b'], 0, ['b'], 0],
])('the text of a tool that %s', (_what, names, index, left, count) => {
  const agentWith = (tools: string[]) =>
    loopWith({ agent: { tools: tools.map((name) => ({ name, skill: 'http_request' })) } });
  const field = `agent.tools[${index}].parameters.body`;
  const texts = withText([], { node: 'call', field, spec: agentWith(names) }, typed);
  expect(currentTexts(texts, agentWith(left))).toHaveLength(count);
});

test('a text stays with its node when the ID changes, and when that is undone', () => {
  const body = "{{ $('call').text_content }}";
  const nodes = [...spec.nodes, { id: 'later', skill: { name: 'http_request', parameters: { body } } }];
  const before: WorkflowSpec = { ...spec, nodes };
  const later = { node: 'later', field: 'skill.parameters.body', spec: before };
  const texts = withText(withText([], { ...at, spec: before }, typed), later, { ...typed, text: '[' });
  const after = renameNode({ spec: before, positions: {} }, 'call', 'fetch').spec;
  const renamed = withRenamed(texts, ['call', 'fetch'], [before, after]);
  expect(unappliedAt(renamed, { ...at, node: 'fetch', spec: after })).toBe('{"a": }');
  expect(unappliedAt(renamed, { ...later, spec: after })).toBe('[');
  expect(currentTexts(renamed, after)).toHaveLength(2);
  expect(unappliedAt(renamed, { ...at, spec: before })).toBe('{"a": }');
  expect(currentTexts(renamed, before)).toHaveLength(2);
});

test('a text is stored, and restored where its field is as it was', () => {
  const texts = withText([], at, typed);
  const stored: unknown = JSON.parse(JSON.stringify(storedTexts(texts, spec)));
  expect(unappliedAt(restoredTexts(stored, spec), at)).toBe('{"a": }');
  for (const now of [
    specWith({ a: 1 }),
    specWith(undefined, 'send_email'),
    specWith(undefined, 'x', 'other'),
  ])
    expect(restoredTexts(stored, now)).toEqual([]);
  expect(storedTexts(texts, specWith({ a: 1 }))).toBeUndefined();
});

test.each([[undefined], [null], ['text'], [[1, null, { node: 'call', field: 'skill', text: 1 }]]])(
  'nothing is restored from %j',
  (stored) => expect(restoredTexts(stored, spec)).toEqual([]),
);
