import { expect, test } from 'vitest';
import { triggers } from '../../../api/trigger.ts';
import type { TriggerKind } from '../../../api/triggerKinds.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { asTestData, prefilled, rememberedText, readTestData, testDataOf, withTestData } from './testData.ts';

const KINDS = Object.keys(triggers) as TriggerKind[];

test.each(KINDS)('the example of a %s trigger is valid test data', (kind) => {
  const example = testDataOf({ id: 'trigger', [kind]: {} });
  expect(readTestData(kind, JSON.stringify(example))).toEqual({ ok: true, value: example });
});

test('the test data of the trigger is preferred', () => {
  const node = { id: 'trigger', webhook: { path: 'x', testData: { data_content: [1] } } } as WorkflowNode;
  expect(testDataOf(node)).toEqual({ data_content: [1] });
  expect(withTestData(node, { data_content: 2 })).toEqual({
    id: 'trigger',
    webhook: { path: 'x', testData: { data_content: 2 } },
  });
});

test('the dialog starts with the test data of the trigger, or else with the last real event unless truncated', () => {
  const bare = { id: 'trigger', webhook: { path: 'x' } } as WorkflowNode;
  const kept = withTestData(bare, { data_content: 'kept' });
  const real = { output: { data_content: { number: 7 } }, truncated: false };
  expect(prefilled(kept, real)).toEqual({ data_content: 'kept' });
  expect(prefilled(bare, real)).toEqual({ data_content: { number: 7 } });
  expect(prefilled(bare, { ...real, truncated: true })).toBeUndefined();
  expect(prefilled(bare, undefined)).toBeUndefined();
});

test('a real event becomes test data of its trigger', () => {
  const output = { text_content: '', data_content: { a: 1 } };
  expect(asTestData('manual', output)).toEqual({ a: 1 });
  expect(asTestData('webhook', output)).toEqual({ data_content: { a: 1 } });
  expect(asTestData('mail', { text_content: 'Hi', data_content: null })).toEqual({
    text_content: 'Hi',
    data_content: null,
  });
});

test.each([
  ['webhook', '', true],
  ['manual', '{"anything":1}', true],
  ['webhook', '{"data_content":[1,"a"]}', true],
  ['webhook', '{"name":"Ada"}', false],
  ['webhook', '{"text_content":1}', false],
  ['manual', '[1]', false],
  ['manual', '{', false],
  ['manual', 'null', false],
] as const)('for a %s trigger the test data %j is accepted: %s', (kind, text, isTaken) => {
  expect(readTestData(kind, text).ok).toBe(isTaken);
});

test.each([
  ['{"amount":250}', { data_content: { amount: 250 } }],
  [
    '{"amount":250,"text_content":"Hi","data_content":{"id":1}}',
    {
      text_content: 'Hi',
      data_content: { amount: 250, id: 1 },
    },
  ],
  ['{"amount":250,"data_content":[1]}', undefined],
  ['{"id":5,"data_content":{"id":1}}', undefined],
  ['{"id":5,"text_content":7}', undefined],
  ['{"toString":5,"data_content":{}}', { data_content: { toString: 5 } }],
])('of the test data %s the unknown fields can be moved: %j', (text, moved) => {
  const read = readTestData('webhook', text);
  expect(read.ok ? undefined : read.moved).toEqual(moved);
  expect(moved === undefined || readTestData('webhook', JSON.stringify(moved)).ok).toBe(true);
});

test('typed numbers reach the run with every digit, and are kept as the API server keeps them', () => {
  const read = readTestData('manual', '{"id":12345678901234567890}');
  const event = read.ok ? read.value : {};
  expect(JSON.stringify(event)).toBe('{"id":12345678901234567890}');
  expect(withTestData({ id: 'trigger', manual: {} }, event)).toEqual({
    id: 'trigger',
    manual: { testData: { id: 12_345_678_901_234_567_000 } },
  });
});

test.each([
  ['the same trigger and test data', { kind: 'manual', example: '{}' }, '{"a":1}'],
  ['another kind of trigger', { kind: 'webhook', example: '{}' }, undefined],
  ['other test data', { kind: 'manual', example: '{"b":2}' }, undefined],
] as const)('the event that was run last is that of a workflow with %s', (_what, now, text) => {
  const stored = { kind: 'manual', example: '{}', text: '{"a":1}' };
  expect(rememberedText(stored, now)).toBe(text);
});

test.each([[undefined], ['text'], [{ kind: 'manual', example: '{}' }]])('%j is no event', (stored) => {
  expect(rememberedText(stored, { kind: 'manual', example: '{}' })).toBeUndefined();
});
