import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf, outcomeOf } from '../../test/support/data/outcome.ts';
import { parseExact } from '../exact/exactNumber.ts';
import { ExpressionError, MissingValueError } from './errors.ts';
import { evaluate, OUTPUT_LIMIT, toText } from './evaluate.ts';
import type { NodeOutput, Scope } from './scope.ts';
import { compileValue, referencesOf } from './template.ts';

const DATA = JSON.parse(`{
  "name": "Ada", "total": 31.5, "vip": true, "note": null, "empty": "", "zero": 0,
  "items": [{"sku": "A-1"}, {"sku": "B-2"}], "grid": [[1, 2], [3]], "nothing": {}, "none": [],
  "any key": 1, "0": "zero", "length": 7, "constructor": "Acme", "code": "{{ $('trigger').data_content.name }}"
}`) as Record<string, unknown>;

const OUTPUTS: Record<string, NodeOutput> = {
  trigger: { text_content: '', data_content: DATA, headers: { 'x-id': '7' } },
  agent: { text_content: 'Thanks {{ $index }}', data_content: [1, 2, 3] },
  mail: { text_content: '', data_content: null, error: { message: 'refused' } },
};

const FAILED: Scope = { node: () => ({ error: { message: 'refused' } }) };
const SCOPE: Scope = {
  node: (id) => (Object.hasOwn(OUTPUTS, id) ? OUTPUTS[id] : undefined),
  previous: 'agent',
  run: {
    id: 'orders-1',
    workflow: 'orders',
    project: 'shop',
    accepted: '2026-01-31T22:30:00.000Z',
    localTime: '2026-01-31T22:30:00Z',
    timeZone: 'UTC',
    test: false,
  },
  vars: { url: 'https://example.com', 'limits.json': { max: 5 } },
};
const EACH: Scope = { ...SCOPE, item: { name: 'Bo', tags: ['x'] }, index: 0 };

const run = (value: unknown, scope: Scope = SCOPE) => evaluate(compileValue(value), scope);
const $data = (path: string) => `{{ $('trigger').data_content${path} }}`;

const VALUES: [text: string, value: unknown][] = [
  [$data('.name'), 'Ada'],
  [$data('.total'), 31.5],
  [$data('.vip'), true],
  [$data('.note'), null],
  [$data('.empty'), ''],
  [$data('.items'), [{ sku: 'A-1' }, { sku: 'B-2' }]],
  [$data('.items[1].sku'), 'B-2'],
  [$data('.grid[0][1]'), 2],
  [$data("['any key']"), 1],
  [$data("['0']"), 'zero'],
  [$data('.length'), 7],
  [$data('.constructor'), 'Acme'],
  [`\n${$data('.total')}\n`, 31.5],
  [`{{ '' }}${$data('.total')}`, '31.5'],
  ["{{ $('trigger').headers['x-id'] }}", '7'],
  ["{{ $('mail').error.message }}", 'refused'],
  ["{{ $('mail').data_content }}", null],
  [`total: ${$data('.total')}`, 'total: 31.5'],
  [`vip: ${$data('.vip')}, note: ${$data('.note')}`, 'vip: true, note: null'],
  [`${$data('.items')}!`, '[{"sku":"A-1"},{"sku":"B-2"}]!'],
  [`${$data('.name')}${$data('.zero')}`, 'Ada0'],
  ["{{ '{{' }} $index }}", '{{ $index }}'],
  ['no reference', 'no reference'],
  ['{{ $previous.text_content }}', 'Thanks {{ $index }}'],
  ['{{ $previous.data_content[1] }}', 2],
  ['{{ $run.id }} {{ $run.workflow }} {{ $run.project }}', 'orders-1 orders shop'],
  ['{{ $run.test }}', false],
  ['{{ $run.accepted }}', '2026-01-31T22:30:00.000Z'],
  ['{{ $vars.url }}/a', 'https://example.com/a'],
  ["{{ $vars['limits.json'].max }}", 5],
  ["{{ $vars.none ?? 'x' }}", 'x'],
  ["{{ $('trigger').data_content.nope.deeper ?? 'none' }}", 'none'],
  ["{{ $('trigger').data_content.note ?? 'none' }}", 'none'],
  ["{{ $('trigger').data_content.empty ?? 'none' }}", ''],
  ["{{ $('trigger').data_content.zero ?? 1 }}", 0],
  ["{{ $('nowhere').text_content ?? null }}", null],
  ["a {{ $('trigger').data_content.nope ?? 1.5 }} b", 'a 1.5 b'],
];

test.each(VALUES)('%j gives %j', (text, value) => {
  expect(run(text)).toEqual(value);
});

test('references inside forEach see the item and its index', () => {
  expect(
    run(['{{ $item }}', '{{ $item.name }} {{ $index }}', '{{ $item.tags[0] }}', '{{ $index }}'], EACH),
  ).toEqual([{ name: 'Bo', tags: ['x'] }, 'Bo 0', 'x', 0]);
});

test('objects and lists are walked, their keys and other values stay', () => {
  const value = {
    status: 201,
    body: { to: [$data('.name'), null, false], '{{ $index }}': 'key' },
    deep: [[{}]],
  };
  expect(run(value)).toEqual({ ...value, body: { ...value.body, to: ['Ada', null, false] } });
});

test('what a reference yields is never parsed again', () => {
  expect(run($data('.code'))).toBe("{{ $('trigger').data_content.name }}");
  expect(run("{{ $('agent').text_content }}!")).toBe('Thanks {{ $index }}!');
});

const MISSING: [text: string, message: RegExp][] = [
  [
    '{{ $vars.none }}',
    /^the project has no variable 'none': add the key to the ConfigMap windlass-variables$/,
  ],
  ["{{ $vars['limits.json'].min }}", /^\$vars\['limits\.json'\] has no member \.min: it has 1 member$/],
  ['{{ $previous.headers.a }}', /^\$previous\.headers: there are no headers/],
  ["{{ $('nowhere').text_content }}", /^\$\('nowhere'\)\.text_content: the node 'nowhere' did not run$/],
  ["{{ $('agent').error }}", /^\$\('agent'\)\.error: the node did not fail/],
  ["{{ $('agent').headers.a }}", /^\$\('agent'\)\.headers: there are no headers/],
  [$data('.items[5].sku'), /^\$\('trigger'\)\.data_content\.items has no element \[5\]: it has 2 elements$/],
  [
    $data('.items[0].name.first'),
    /^\$\('trigger'\)\.data_content\.items\[0\] has no member \.name: it has 1 member$/,
  ],
  [$data('.nothing.x'), /nothing has no member \.x: it has 0 members$/],
  [$data('.none[0]'), /none has no element \[0\]: it has 0 elements$/],
  [$data('.items.length'), /items is a list: .* not \.length$/],
  [$data(".items['0']"), /items is a list: .* not \['0'\]$/],
  [$data('[0]'), /data_content is an object: .* \['0'\]/],
  [$data('.name.length'), /name is a string and has no \.length$/],
  [$data('.total[0]'), /total is a number and has no \[0\]/],
  [$data('.vip.x'), /vip is a boolean/],
  [$data('.note.x'), /note is null/],
  [$data('.toString'), /has no member \.toString: it has/],
  [$data('.__proto__'), /has no member \.__proto__: it has/],
  [$data('.items.constructor'), /is a list/],
  [$data('.nothing.constructor'), /has no member \.constructor: it has/],
  [$data(".nothing['__proto__']['polluted']"), /has no member \.__proto__: it has/],
  ['{{ $item.name }}', /^\$item exists only inside a node with forEach$/],
  ['{{ $index }}', /^\$index exists only inside a node with forEach$/],
];

test.each(MISSING)('%s fails and names the deepest part that exists', (text, message) => {
  expect(() => run(text)).toThrow(MissingValueError);
  expect(() => run(text)).toThrow(message);
});

test('of a node that failed only the error is there', () => {
  expect(run("{{ $('a').error.message }}", FAILED)).toBe('refused');
  expect(() => run("{{ $('a').text_content }}", FAILED)).toThrow(
    /the node failed and produced no text_content$/,
  );
});

test('the error of a missing value holds the reference as it is written', () => {
  const error = errorOf(() => run(`Dear ${$data('.items[5].sku')}`));
  expect(error).toMatchObject({ code: 'MissingValue', reference: "$('trigger').data_content.items[5].sku" });
});

test.each<[string, object]>([
  [
    $data('.items[0].price'),
    { at: "$('trigger').data_content.items[0]", type: 'object', size: 1, keys: ['sku'] },
  ],
  [$data('.items[5].sku'), { at: "$('trigger').data_content.items", type: 'array', size: 2 }],
  [$data('.name.length'), { at: "$('trigger').data_content.name", type: 'string' }],
  [$data('.note.x'), { at: "$('trigger').data_content.note", type: 'null' }],
  ['{{ $vars.none }}', { at: '$vars', type: 'object', size: 2, keys: ['url', 'limits.json'] }],
])('the error of %s has the type and the keys of the value that was found', (text, found) => {
  expect(errorOf(() => run(text)).missing?.found).toEqual({ reference: text.slice(3, -3), ...found });
});

test('at most 20 keys of the value are listed, none longer than 64 characters', () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}`.repeat(50), 1]));
  const scope: Scope = { node: () => ({ text_content: '', data_content: many }) };
  const { keys = [], size } = errorOf(() => run($data('.x'), scope)).missing?.found ?? {};
  expect([keys.length, Math.max(...keys.map(({ length }) => length)), size]).toEqual([20, 64, 30]);
});

test('messages say how much is there, never what', () => {
  const scope: Scope = { node: () => ({ text_content: '', data_content: { secret_key: 'secret value' } }) };
  for (const path of ['.x', '[0]', '.secret_key.x']) {
    const { message } = errorOf(() => run($data(path), scope));
    expect(message).not.toContain('secret value');
  }
});

test('a value larger than 512 Ki characters is refused', () => {
  const scopeOf = (data: unknown): Scope => ({ node: () => ({ text_content: '', data_content: data }) });
  const half = 'a'.repeat(OUTPUT_LIMIT / 2);
  expect(run(`${$data('')}${$data('')}`, scopeOf(half))).toHaveLength(OUTPUT_LIMIT);
  expect(errorOf(() => run(`${$data('')}.${$data('')}`, scopeOf(half))).code).toBe('Limit');
  expect(errorOf(() => run([$data(''), $data('')], scopeOf([half]))).code).toBe('Limit');
  expect(errorOf(() => run(`x${$data('')}`, scopeOf(Array(OUTPUT_LIMIT).fill(0)))).code).toBe('Limit');
});

test('a value that is nested too deep to be written is refused, not a stack overflow', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  const scope: Scope = { node: () => ({ text_content: '', data_content: deep }) };
  expect(errorOf(() => run($data(''), scope)).code).toBe('Limit');
  expect(errorOf(() => run(`text ${$data('')}`, scope)).code).toBe('Limit');
});

test('an error names the place in the value, and the line and column in the text there', () => {
  const error = errorOf(() => compileValue({ body: { items: [1, { 'a key': 'x\n {{ oops }}' }] } }));
  expect(error).toMatchObject({ path: "body.items[1]['a key']", position: { line: 2, column: 5 } });
  expect(error.message).toMatch(/^body\.items\[1\]\['a key'\]: line 2, column 5: /);
});

test('a value may be nested 64 deep and hold 1000 references', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  expect(run(nested(64))).toEqual(nested(64));
  expect(errorOf(() => compileValue(nested(65))).code).toBe('Limit');
  expect(referencesOf(compileValue(Array(1000).fill('{{ $index }}')))).toHaveLength(1000);
  expect(errorOf(() => compileValue(Array(1001).fill('{{ $index }}'))).code).toBe('Limit');
});

test('the references of a value are listed in order', () => {
  const value = {
    a: "{{ $('x').text_content }} {{ $item.y }}",
    b: [1, "{{ $('z').data_content }}"],
    c: 'text',
  };
  expect(referencesOf(compileValue(value))).toMatchObject([{ node: 'x' }, { source: 'item' }, { node: 'z' }]);
});

test('a compiled value survives being kept as JSON', () => {
  const compiled = compileValue({ a: $data('.name'), b: [`to ${$data('.name')}`, 1] });
  expect(evaluate(JSON.parse(JSON.stringify(compiled)), SCOPE)).toEqual({ a: 'Ada', b: ['to Ada', 1] });
});

test('a key named __proto__ stays a key of its own and reaches no prototype', () => {
  const value = JSON.parse(
    '{"__proto__": {"polluted": "{{ $index }}"}, "constructor": {"prototype": "{{ $index }}"}}',
  );
  const result = run(value, EACH);
  expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":0},"constructor":{"prototype":0}}');
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
});

test('inherited members are not seen even where a prototype was polluted', () => {
  const parent = { inherited: 'secret' };
  const scope: Scope = { node: () => ({ text_content: '', data_content: Object.create(parent) as unknown }) };
  expect(() => run($data('.inherited'), scope)).toThrow(MissingValueError);
});

const TEXTS: [value: unknown, text: string][] = [
  ['a "text"', 'a "text"'],
  [1.5, '1.5'],
  [-0, '0'],
  [1e21, '1e+21'],
  [false, 'false'],
  [null, 'null'],
  [['a', 1], '["a",1]'],
  [{ a: null }, '{"a":null}'],
];

test.each(TEXTS)('%j as text is %j', (value, text) => {
  expect(toText(value)).toBe(text);
});

const KEYS = [
  'a',
  'b',
  'items',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'length',
  'hasOwnProperty',
];
const anyPath = fc
  .array(
    fc.oneof(
      fc.constantFrom(...KEYS).map((key) => `['${key}']`),
      fc.nat(3).map((index) => `[${index}]`),
    ),
    { maxLength: 5 },
  )
  .map((steps) => steps.join(''));
const anyData = fc
  .jsonValue({ maxDepth: 4 })
  .chain((value) => fc.dictionary(fc.constantFrom(...KEYS), fc.constant(value), { noNullPrototype: true }));

test('whatever the data and the reference are, the result is part of the data, text, or an ExpressionError', () => {
  fc.assert(
    fc.property(anyPath, anyData, (path, data) => {
      const scope: Scope = { node: () => ({ text_content: 't', data_content: data }) };
      for (const text of [$data(path), `x${$data(path)}`]) {
        const { value, error } = outcomeOf(() => run(text, scope));
        expect(error === undefined ? isJson(value) : error instanceof ExpressionError).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson);
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

test('whatever text a reference yields comes out as it is', () => {
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom('{{ $index }}', "{{ '{{' }}", '${1}', "{{ $('a').text_content }}"),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      const scope: Scope = { node: () => ({ text_content: text, data_content: { text } }), index: 1 };
      expect(run("{{ $('a').text_content }}", scope)).toBe(text);
      expect(run("<{{ $('a').data_content.text }}>", scope)).toBe(`<${text}>`);
    }),
  );
});

test('an exact number keeps every digit: alone, inside text and inside objects', () => {
  const scope: Scope = {
    node: () => ({ text_content: '', data_content: parseExact('{"id":12345678901234567890}') }),
  };
  const id = $data('.id');
  expect(JSON.stringify(run({ id, all: $data(''), text: `no. ${id}`, json: `${$data('')}!` }, scope))).toBe(
    '{"id":12345678901234567890,"all":{"id":12345678901234567890},"text":"no. 12345678901234567890","json":"{\\"id\\":12345678901234567890}!"}',
  );
  expect(errorOf(() => run($data('.id.text'), scope)).message).toContain('is a number and has no .text');
});
