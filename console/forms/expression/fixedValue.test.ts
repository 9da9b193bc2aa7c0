import { expect, test } from 'vitest';
import { fixedValue } from './fixedValue.ts';
import type { Editor } from '../fields.ts';
import type { Source } from '../source.ts';

const order: Source = {
  id: 'trigger',
  label: 'trigger',
  kind: 'webhook',
  output: { data_content: { size: 3, weight: 1.5, gift: true, method: 'POST', note: 'Ring twice' } },
  isReal: true,
  members: ['data_content'],
};
const sources = { nodes: [order] };
const of = (member: string) => `{{ $('trigger').data_content.${member} }}`;

test.each<[what: string, editor: Editor, member: string, value: unknown]>([
  ['a number', { kind: 'number', isWhole: false }, 'weight', 1.5],
  ['a whole number', { kind: 'number', isWhole: true }, 'size', 3],
  ['a boolean', { kind: 'boolean', isOnByDefault: false }, 'gift', true],
  ['an option', { kind: 'choice', options: ['GET', 'POST'] }, 'method', 'POST'],
  [
    'no number with decimals where whole ones are expected',
    { kind: 'number', isWhole: true },
    'weight',
    undefined,
  ],
  ['no option that the field does not offer', { kind: 'choice', options: ['GET'] }, 'method', undefined],
  ['no text of a run', { kind: 'scalar' }, 'note', undefined],
  ['no value of a missing member', { kind: 'number', isWhole: true }, 'price', undefined],
])('instead of an expression a field gets %s', (_what, editor, member, value) => {
  expect(fixedValue(editor, of(member), sources)).toBe(value);
});

test('an example of an output that never was is no value', () => {
  const example = { nodes: [{ ...order, isReal: false }] };
  expect(fixedValue({ kind: 'number', isWhole: true }, of('size'), example)).toBeUndefined();
});
