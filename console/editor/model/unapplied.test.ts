import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { currentTexts, textAt, withText } from './unapplied.ts';

const specWith = (body?: unknown, name = 'http_request', id = 'call'): WorkflowSpec => ({
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id, skill: { name, parameters: { url: 'https://a.example', ...(body !== undefined && { body }) } } },
  ],
});
const spec = specWith();
const at = { node: 'call', field: 'skill.parameters.body', spec };
const kept = { text: '{"a": }', message: 'Invalid JSON.' };

test('a text that cannot be applied is kept for its field until the text is valid', () => {
  const texts = withText([], at, kept);
  expect(textAt(texts, at)).toBe('{"a": }');
  expect(textAt(texts, { ...at, field: 'skill.parameters.url' })).toBeUndefined();
  const next = withText(texts, at, { ...kept, text: '{"a": {' });
  expect(next).toHaveLength(1);
  expect(textAt(next, at)).toBe('{"a": {');
  expect(withText(next, at, undefined)).toEqual([]);
});

test.each([
  ['another value', specWith({ a: 1 })],
  ['another skill', specWith(undefined, 'send_email')],
  ['no node of this name any more', specWith(undefined, 'http_request', 'other')],
])('the text of a field is no problem any more once the field has %s', (_what, now) => {
  const texts = withText([], at, kept);
  expect(currentTexts(texts, spec)).toHaveLength(1);
  expect(currentTexts(texts, now)).toEqual([]);
  expect(textAt(texts, { ...at, spec: now })).toBeUndefined();
});
