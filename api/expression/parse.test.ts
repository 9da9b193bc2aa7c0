import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf, outcomeOf } from '../../test/support/data/outcome.ts';
import { ExpressionError } from './errors.ts';
import { parseTemplate, TEMPLATE_LIMITS, type Template } from './parse.ts';
import { printReference } from './reference.ts';

const refusalOf = (text: string) => errorOf(() => parseTemplate(text));

const trigger = (...path: (string | number)[]) => ({
  source: 'node',
  node: 'trigger',
  member: 'data_content',
  path,
});

const REFERENCES: [written: string, reference: object][] = [
  ["$('trigger').text_content", { source: 'node', node: 'trigger', member: 'text_content', path: [] }],
  ['$("trigger").data_content', trigger()],
  ["$( 'trigger' ).data_content", trigger()],
  ["$('trigger')['data_content']", trigger()],
  ["$('trigger').data_content.items[0].name", trigger('items', 0, 'name')],
  ["$('trigger').data_content[ 12 ][3]", trigger(12, 3)],
  ["$('trigger').data_content['any key']", trigger('any key')],
  ["$('trigger').data_content['}} not the end']", trigger('}} not the end')],
  [String.raw`$('trigger').data_content['it\'s \\ "here"']`, trigger('it\'s \\ "here"')],
  ["$('trigger').data_content.größe.$x._y", trigger('größe', '$x', '_y')],
  ["$('trigger').data_content.__proto__.constructor", trigger('__proto__', 'constructor')],
  ["$('mail').error.message", { source: 'node', node: 'mail', member: 'error', path: ['message'] }],
  ["$('hook').headers['x-id']", { source: 'node', node: 'hook', member: 'headers', path: ['x-id'] }],
  ['$item', { source: 'item', path: [] }],
  ['$item.name', { source: 'item', path: ['name'] }],
  ["$item['a'][0]", { source: 'item', path: ['a', 0] }],
  ['$index', { source: 'index' }],
  ["$url('approve')", { source: 'url', node: 'approve' }],
  ['$url( "approve" )', { source: 'url', node: 'approve' }],
  ['$previous.text_content', { source: 'previous', member: 'text_content', path: [] }],
  ['$previous.data_content.items[0]', { source: 'previous', member: 'data_content', path: ['items', 0] }],
  ['$run.accepted', { source: 'run', path: ['accepted'] }],
  ['$vars.url', { source: 'vars', path: ['url'] }],
  ["$vars['limits.json'].max", { source: 'vars', path: ['limits.json', 'max'] }],
  ["$('trigger').data_content.x ?? 'none'", { ...trigger('x'), default: 'none' }],
  ['$item ?? "it\'s"', { source: 'item', path: [], default: "it's" }],
  ['$item.a ??-1.5e2', { source: 'item', path: ['a'], default: -150 }],
  ['$item.a ?? true', { source: 'item', path: ['a'], default: true }],
  ['$item.a ?? null', { source: 'item', path: ['a'], default: null }],
  ["$item.a ?? ''", { source: 'item', path: ['a'], default: '' }],
];

test.each(REFERENCES)('%s is a reference', (written, reference) => {
  expect(parseTemplate(`{{ ${written} }}`)).toEqual({ parts: [reference], single: true });
  expect(parseTemplate(`a{{${written}}}b`)).toEqual({ parts: ['a', reference, 'b'], single: false });
});

const INDEX = { source: 'index' };

const TEXTS: [meaning: string, text: string, parts: unknown[], single: boolean][] = [
  ['no braces is text', 'plain }} { text', ['plain }} { text'], false],
  ['an empty text has no parts', '', [], false],
  ['a text in quotes writes literal braces', "{{ '{{' }} name }}", ['{{ name }}'], false],
  ['white space around one reference is not text', ' \n{{ $index }}\n', [INDEX], true],
  ['a quoted nothing beside a reference makes it text', "{{ '' }}{{ $index }}", [INDEX], false],
  ['white space between two references is text', '{{ $index }} {{ $index }}', [INDEX, ' ', INDEX], false],
  ['of three braces the last two open', '{"a":{{{ $index }}}}', ['{"a":{', INDEX, '}}'], false],
  ['what stands behind the reference is text', '{{ $index }}.name', [INDEX, '.name'], false],
  ['line breaks inside the braces are white space', '{{\n  $index\r\n\t}}', [INDEX], true],
];

test.each(TEXTS)('%s', (_, text, parts, single) => {
  expect(parseTemplate(text)).toEqual({ parts, single });
});

const REFUSED: [text: string, line: number, column: number, message: RegExp][] = [
  ['{{ $previous }}', 1, 4, /after \$previous use one of \.text_content/],
  ['{{ $previous.x }}', 1, 4, /after \$previous use one of/],
  ['{{ $previous.text_content.x }}', 1, 4, /text_content is a string/],
  ['{{ $run.name }}', 1, 4, /after \$run use one of \.id, \.workflow/],
  ['{{ $run }}', 1, 4, /after \$run use one of/],
  ['{{ $vars }}', 1, 4, /after \$vars write the name of a variable/],
  ['{{ $vars[0] }}', 1, 4, /after \$vars write the name/],
  ['{{ $item ?? }}', 1, 13, /after \?\? write a text in quotes, a number/],
  ['{{ $item ?? none }}', 1, 13, /after \?\? write a text in quotes/],
  ['{{ $item ?? truely }}', 1, 13, /after \?\? write a text in quotes/],
  ['{{ $item ?? 1e999 }}', 1, 13, /a double cannot represent this number: write it as text in quotes/],
  ['{{ $item ?? 12345678901234567890 }}', 1, 13, /a double cannot represent this number/],
  ['{{ $item ?? $index }}', 1, 13, /after \?\? write a text in quotes/],
  ['{{', 1, 3, /not followed by a reference/],
  ['{{ }}', 1, 4, /not followed by a reference/],
  ['{{ $index', 1, 1, /this {{ has no closing }}/],
  ['{{ $index }', 1, 11, /expected }} here/],
  ['a\nbc {{ $indexes }}', 2, 7, /not followed by a reference/],
  ['{{ $index.a }}', 1, 10, /expected }} here/],
  ['{{ $item. }}', 1, 10, /expected a name/],
  ['{{ $item.0 }}', 1, 10, /write \[0\] for an index/],
  ['{{ $item[] }}', 1, 10, /index from 0, or a key in quotes/],
  ['{{ $item[-1] }}', 1, 10, /index from 0/],
  ['{{ $item[01] }}', 1, 10, /index from 0/],
  ['{{ $item[1.5] }}', 1, 10, /index from 0/],
  ['{{ $item[$index] }}', 1, 10, /index from 0/],
  ["{{ $item['a }}", 1, 10, /quote is not closed/],
  [String.raw`{{ $item['\n'] }}`, 1, 11, /backslash/],
  ["{{ $item['a' }}", 1, 14, /expected \]/],
  ['{{ $(trigger).text_content }}', 1, 6, /ID in quotes/],
  ["{{ $('trigger' }}", 1, 16, /expected \)/],
  ["{{ $('trigger') }}", 1, 4, /use one of .text_content, .data_content, .error, .headers/],
  ["{{ $('trigger').body }}", 1, 4, /use one of .text_content/],
  ["{{ $('trigger')[0] }}", 1, 4, /use one of .text_content/],
  ["{{ $('trigger').text_content.length }}", 1, 4, /text_content is a string/],
  ['{{ name }}', 1, 4, /for literal braces write {{ '{{' }}/],
  ['{{ $json.name }}', 1, 4, /column 4: write \$previous\.data_content\.name in place of \$json\.name$/],
  ['{{ $json }}', 1, 4, /write \$previous\.data_content in place of \$json$/],
  [
    '{{ $json.body.amount }}',
    1,
    4,
    /write \$\('trigger'\)\.data_content\.amount in place of \$json\.body\.amount, with the ID of your webhook/,
  ],
  [
    "{{ $json['body']['a b'].toFixed(2) }}",
    1,
    4,
    /write \$\('trigger'\)\.data_content\['a b'\] in place of \$json\['body'\]\['a b'\], with/,
  ],
  [
    '{{ $input.first().json.rows[0] }}',
    1,
    4,
    /write \$previous\.data_content\.rows\[0\] in place of \$input\.first/,
  ],
  [
    '{{ $node["hook"].json.name }}',
    1,
    4,
    /write \$\('hook'\)\.data_content\.name in place of \$node\["hook"\]/,
  ],
  ['{{ $node["My hook"].json.name }}', 1, 4, /write \$\('node id'\)\.data_content\.name in place of/],
  ["{{ $('trigger').json.amount }}", 1, 4, /write \$\('trigger'\)\.data_content\.amount in place of/],
  ["{{ $('trigger').first().json.amount }}", 1, 4, /write \$\('trigger'\)\.data_content\.amount in place of/],
  ["{{ $('hook').first().json.body.amount }}", 1, 4, /write \$\('hook'\)\.data_content\.amount in place of/],
  [`{{ $json.${'a'.repeat(200)} }}`, 1, 4, /write \$previous\.data_content in place of \$json$/],
];

/** What has been used against other products: none of it is a reference, so none of it is ever evaluated. */
const HOSTILE = [
  'constructor.constructor("return process")()',
  "$('a').data_content.constructor('return 1')()",
  "$('a').data_content.map(x => x)",
  '$item.constructor.constructor("return this")()',
  '$item[`x`]',
  '$item["con"+"structor"]',
  '$item?.x',
  '$item.x = 1',
  '$item, process.exit()',
  '$index; process.exit()',
  '$index++',
  '(() => {})()',
  'this',
  'process.env.HOME',
  'globalThis',
  "import('fs')",
  'new Date()',
  '7*7',
  "'a' + 'b'",
  "$('a').text_content | upper",
  "$('a').data_content[__proto__]",
  "$('a')['__proto__'].polluted",
  "$($('a').text_content).text_content",
  '#{7*7}',
  '${7*7}',
  '<%= 7*7 %>',
  '$item.\u0000',
  '{{ $index }}',
];

test.each(REFUSED)('%j is refused at line %i, column %i', (text, line, column, message) => {
  const error = refusalOf(text);
  expect(error).toMatchObject({ code: 'Syntax', position: { line, column } });
  expect(error.message).toMatch(message);
  expect(error.message).toContain(`line ${line}, column ${column}: `);
});

test.each(HOSTILE)('the payload %s is no reference', (payload) => {
  expect(refusalOf(`{{ ${payload} }}`).code).toBe('Syntax');
});

test('a text, a reference and a key have limits that are named', () => {
  expect(refusalOf('a'.repeat(TEMPLATE_LIMITS.templateLength + 1)).code).toBe('Limit');
  expect(refusalOf('{{ $index }}'.repeat(TEMPLATE_LIMITS.references + 1)).message).toMatch(/256 references/);
  expect(refusalOf(`{{ $item${'.a'.repeat(TEMPLATE_LIMITS.pathSteps + 1)} }}`).message).toMatch(
    /64 path steps/,
  );
  expect(refusalOf(`{{ $item.${'a'.repeat(TEMPLATE_LIMITS.keyLength + 1)} }}`).message).toMatch(
    /1024 characters/,
  );
});

test('at its limits a text is accepted', () => {
  expect(parseTemplate('a'.repeat(TEMPLATE_LIMITS.templateLength)).parts).toHaveLength(1);
  expect(parseTemplate('{{ $index }}'.repeat(TEMPLATE_LIMITS.references)).parts).toHaveLength(256);
  expect(parseTemplate(`{{ $item${'.a'.repeat(TEMPLATE_LIMITS.pathSteps)} }}`).single).toBe(true);
  expect(parseTemplate(`{{ $item['${'a'.repeat(TEMPLATE_LIMITS.keyLength)}'] }}`).single).toBe(true);
});

const FRAGMENTS = [
  '{{',
  '}}',
  '{',
  '}',
  '$(',
  ')',
  "'",
  '"',
  '\\',
  '.',
  '[',
  ']',
  '$item',
  '$index',
  '$',
  'a',
  '0',
  ' ',
  '\n',
];
const MEMBERS = [
  "$('a').text_content",
  "$('a').data_content",
  "$('a').error",
  '{{ $item.x }}',
  "{{ '' }}",
  "{{ '{{' }}",
];
const nearlyTemplates = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS, ...MEMBERS), fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));

test('whatever the text is, parsing gives a template or an ExpressionError with a position', () => {
  fc.assert(
    fc.property(nearlyTemplates, (text) => {
      const { error } = outcomeOf(() => parseTemplate(text));
      const clear = error === undefined || (error instanceof ExpressionError && error.position !== undefined);
      expect(clear).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

const step = fc.oneof(
  fc.nat(),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('items', '__proto__', "'", '\\'),
);
const reference = fc.oneof(
  fc.record({ source: fc.constant('index' as const) }),
  fc.record({
    source: fc.constant('previous' as const),
    member: fc.constantFrom('data_content' as const, 'error' as const),
    path: fc.array(step, { maxLength: 4 }),
    default: fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.integer()),
  }),
  fc.record({
    source: fc.constant('vars' as const),
    path: fc.array(step, { maxLength: 4 }).map((path) => ['name', ...path]),
  }),
  fc.record({ source: fc.constant('item' as const), path: fc.array(step, { maxLength: 4 }) }),
  fc.record({
    source: fc.constant('node' as const),
    node: fc.string({ unit: 'binary', maxLength: 6 }),
    member: fc.constantFrom('data_content' as const, 'error' as const, 'headers' as const),
    path: fc.array(step, { maxLength: 4 }),
  }),
);
const text = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('{', '{{', '{{{', '}}', ' ', '{{ $index }}'),
);

const parts = fc
  .tuple(fc.array(fc.tuple(text, reference), { maxLength: 4 }), text)
  .map(([pairs, last]) => [...pairs.flat(), last].filter((part) => part !== ''));

/** The text of a template. */
function printTemplate({ parts: some, single }: Template): string {
  const printed = some.map((part) =>
    typeof part === 'string' ? part.replaceAll('{{', "{{ '{{' }}") : `{{ ${printReference(part)} }}`,
  );
  const texts = some.filter((part) => typeof part === 'string');
  const isBare = some.length - texts.length === 1 && texts.every((part) => part.trim() === '');
  return `${!single && isBare ? "{{ '' }}" : ''}${printed.join('')}`;
}

test('a template of any texts and references comes back the same when it is printed and parsed', () => {
  fc.assert(
    fc.property(parts, (some) => {
      const template = { parts: some, single: false };
      expect(parseTemplate(printTemplate(template))).toEqual(template);
    }),
    { numRuns: 1_000 },
  );
});

test('a single reference comes back single', () => {
  fc.assert(
    fc.property(reference, (one) => {
      const template = { parts: [one], single: true };
      expect(parseTemplate(printTemplate(template))).toEqual(template);
    }),
  );
});

test('a template survives being kept as JSON', () => {
  const template = parseTemplate("Dear {{ $('a').data_content.people[0]['first name'] }}");
  expect(JSON.parse(JSON.stringify(template))).toEqual(template);
});
