/** What expressions of n8n become: references where one access is all that they do, code otherwise. */
import { expect, test } from 'vitest';
import { accessOf, namedNodes, partsOf } from './expression.ts';
import { jsonValue, toJavaScript, toReferences, valueOf } from './value.ts';

const refer = ({ node, path }: { node: string | undefined; path: readonly (string | number)[] }) =>
  `$('${node ?? 'before'}').${path.join('.')}`;

test.each([
  ['$json.name', { node: undefined, path: ['name'] }],
  ['$json["any key"][0]', { node: undefined, path: ['any key', 0] }],
  ["$('My node').item.json.a?.b", { node: 'My node', path: ['a', 'b'] }],
  ['$("A").first().json', { node: 'A', path: [] }],
  ["$node['A'].json.x", { node: 'A', path: ['x'] }],
  ['$input.item.json.x', { node: undefined, path: ['x'] }],
])('%s is one access', (code, access) => {
  expect(accessOf(code)).toEqual(access);
});

test.each([
  '$json.name.toUpperCase()',
  '$json.list.length',
  '$json.a + 1',
  "$('A').all()",
  '$json.a ? 1 : 2',
  '$jsonx.a',
])('%s is no access', (code) => {
  expect(accessOf(code)).toBeUndefined();
});

test('braces within an expression do not end it', () => {
  expect(partsOf('={{ {a: {b: 1}} }} and {{ $json.x }}')).toEqual([
    { code: '{a: {b: 1}}' },
    { text: ' and ' },
    { code: '$json.x' },
  ]);
});

test('names of nodes are found in all forms', () => {
  expect(namedNodes(`$('A').item.json + $node["B"].json.x + $items("C") + $node.D.json`)).toEqual([
    'A',
    'B',
    'C',
    'D',
  ]);
});

test.each<[raw: unknown, value: unknown]>([
  ['plain {{ text }}', "plain {{ '{{' }} text }}"],
  ['={{ $json.a }}', "{{ $('before').a }}"],
  ['=Hi {{ $json.a }}!', "Hi {{ $('before').a }}!"],
  [{ deep: ['={{ $now }}'] }, { deep: ['{{ $run.localTime }}'] }],
  ['={{ $vars.shop }}', "{{ $vars.shop ?? '' }}"],
])('%j becomes a reference', (raw, value) => {
  expect(toReferences(valueOf(raw), refer)).toEqual({ value });
});

test('what computes needs code', () => {
  const value = valueOf('={{ $json.a > 1 ? "x" : "y" }}');
  expect(toReferences(value, refer)).toBeUndefined();
  expect(toJavaScript(value)).toBe('attempt(() => ($json.a > 1 ? "x" : "y"))');
});

test('an expression that is no JavaScript is undefined', () => {
  expect(toJavaScript(valueOf('={{ a b }}'))).toBe('undefined');
});

test('a value inside of JSON can add no member', () => {
  expect(toReferences(jsonValue('={"a": "{{ $json.x }}", "b": {{ $json.y }}}'), refer)).toEqual({
    value: { a: "{{ $('before').x }}", b: "{{ $('before').y }}" },
  });
});
