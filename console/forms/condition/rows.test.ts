/** Conditions as rows, and in CEL. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileCondition, evaluateCondition } from '../../../api/cel.ts';
import type { NodeOutput } from '../../../api/expression/scope.ts';
import { readRows } from './read.ts';
import {
  isAllowed,
  OPERATOR_NAMES,
  operatorOf,
  printRows,
  valueFrom,
  lacksValue,
  valueProblem,
  valueType,
  orderNote,
  type Field,
  type Operator,
  type Row,
  type Rows,
  rowsNote,
} from './rows.ts';

const field = (...path: (string | number)[]) => ['nodes', 'a', 'data_content', ...path];
const one = (row: Row): Rows => ({ join: 'and', rows: [row] });

test.each<[string, Row]>([
  [
    'has(nodes.a.?data_content.total) && nodes.a.data_content.total >= 100',
    { field: field('total'), operator: 'atLeast', value: 100 },
  ],
  [
    'has(nodes.a.?data_content.state) && nodes.a.data_content.state == "paid"',
    { field: field('state'), operator: 'equals', value: 'paid' },
  ],
  [
    '!has(nodes.a.?data_content.state) || nodes.a.data_content.state != ""',
    { field: field('state'), operator: 'notEquals', value: '' },
  ],
  [
    'has(nodes.a.?data_content.n) && nodes.a.data_content.n < -1.5',
    { field: field('n'), operator: 'less', value: -1.5 },
  ],
  [
    'nodes.a.?data_content[?"any key"].hasValue() && nodes.a.data_content["any key"].contains("\\"x\\"")',
    { field: field('any key'), operator: 'contains', value: '"x"' },
  ],
  [
    '!has(nodes.a.?data_content.t) || !nodes.a.data_content.t.contains("x")',
    { field: field('t'), operator: 'notContains', value: 'x' },
  ],
  [
    'has(nodes.a.?data_content.t) && nodes.a.data_content.t.matches("^a+$")',
    { field: field('t'), operator: 'matches', value: '^a+$' },
  ],
  [
    'has(nodes.a.?data_content.ok) && nodes.a.data_content.ok == true',
    { field: field('ok'), operator: 'isTrue' },
  ],
  [
    '!has(nodes.a.?data_content.ok) || nodes.a.data_content.ok == false',
    { field: field('ok'), operator: 'isFalse' },
  ],
  [
    'has(nodes.a.?data_content.tags) && "vip" in nodes.a.data_content.tags',
    { field: field('tags'), operator: 'includes', value: 'vip' },
  ],
  [
    '!has(nodes.a.?data_content.ids) || !(3 in nodes.a.data_content.ids)',
    { field: field('ids'), operator: 'notIncludes', value: 3 },
  ],
  [
    '!has(nodes.a.?data_content.list) || size(nodes.a.data_content.list) == 0',
    { field: field('list'), operator: 'isEmpty' },
  ],
  [
    'has(nodes.a.text_content) && size(nodes.a.text_content) > 0',
    { field: ['nodes', 'a', 'text_content'], operator: 'isNotEmpty' },
  ],
  [
    'has(nodes.a.?error.reason) && nodes.a.error.reason == "Timeout"',
    { field: ['nodes', 'a', 'error', 'reason'], operator: 'equals', value: 'Timeout' },
  ],
  [
    'nodes.a.?headers[?"x-event"].hasValue() && nodes.a.headers["x-event"] == "push"',
    { field: ['nodes', 'a', 'headers', 'x-event'], operator: 'equals', value: 'push' },
  ],
  ['nodes.each.index > 3', { field: ['nodes', 'each', 'index'], operator: 'greater', value: 3 }],
  [
    'has(nodes.each.item.price) && nodes.each.item.price > 3',
    { field: ['nodes', 'each', 'item', 'price'], operator: 'greater', value: 3 },
  ],
  ['has(nodes.a.error) && nodes.a.error != null', { field: ['nodes', 'a', 'error'], operator: 'isNotNull' }],
  ['has(nodes.a.?data_content.coupon)', { field: field('coupon'), operator: 'exists' }],
  ['has(nodes.a.?data_content.order.coupon)', { field: field('order', 'coupon'), operator: 'exists' }],
  ['!nodes.a.?data_content.?list[?0].hasValue()', { field: field('list', 0), operator: 'missing' }],
  ['!has(nodes.a)', { field: ['nodes', 'a'], operator: 'missing' }],
  [
    'has(nodes.a.?data_content.order.buyer.name) && nodes.a.data_content.order.buyer.name == "Ada"',
    { field: field('order', 'buyer', 'name'), operator: 'equals', value: 'Ada' },
  ],
  [
    'has(previous.?data_content.order.n) && previous.data_content.order.n > 1',
    { field: ['previous', 'data_content', 'order', 'n'], operator: 'greater', value: 1 },
  ],
  [
    '!nodes.a.?data_content.?list[?0].?b.hasValue() || nodes.a.data_content.list[0].b == null',
    { field: field('list', 0, 'b'), operator: 'isNull' },
  ],
  ['run.test != null', { field: ['run', 'test'], operator: 'isNotNull' }],
  ['vars.limit == "3"', { field: ['vars', 'limit'], operator: 'equals', value: '3' }],
])('%s is one row, and is written as that', (source, row) => {
  expect(readRows(source)).toEqual(one(row));
  expect(printRows(one(row))).toBe(source);
});

const ROWS: Row[] = [
  { field: field('a'), operator: 'isTrue' },
  { field: field('b'), operator: 'notEquals', value: 2 },
  { field: field('c'), operator: 'exists' },
];

test.each([
  [
    'and',
    'has(nodes.a.?data_content.a) && nodes.a.data_content.a == true && (!has(nodes.a.?data_content.b) || nodes.a.data_content.b != 2) && has(nodes.a.?data_content.c)',
  ],
  [
    'or',
    '(has(nodes.a.?data_content.a) && nodes.a.data_content.a == true) || !has(nodes.a.?data_content.b) || nodes.a.data_content.b != 2 || has(nodes.a.?data_content.c)',
  ],
] as const)('rows are joined by %s', (join, source) => {
  expect(printRows({ join, rows: ROWS })).toBe(source);
  expect(readRows(source)).toEqual({ join, rows: ROWS });
});

test('conditions without the test of their fields are read, too, and are written with it', () => {
  const written =
    'nodes.a.data_content.a == true && nodes.a.data_content.b != 2 && has(nodes.a.data_content.c)';
  expect(readRows(written)).toEqual({ join: 'and', rows: ROWS });
});

test('the test of a field is part of its row, also without a test of its member', () => {
  const written =
    'has(nodes.a.data_content.n) && nodes.a.data_content.n > 1 && nodes.a.data_content[?"a b"].hasValue() && nodes.a.data_content["a b"] == 2';
  expect(readRows(written)).toEqual({
    join: 'and',
    rows: [
      { field: field('n'), operator: 'greater', value: 1 },
      { field: field('a b'), operator: 'equals', value: 2 },
    ],
  });
});

test('the test of a field is a row of its own where the next row is about something else', () => {
  const rows: Row[] = [
    { field: field('a'), operator: 'exists' },
    { field: field('b'), operator: 'greater', value: 2 },
  ];
  const written = 'has(nodes.a.?data_content.a) && nodes.a.data_content.b > 2';
  expect(readRows(written)).toEqual({ join: 'and', rows });
});

test('spaces, brackets and quotes of another writing make no difference', () => {
  const written = "(nodes['a'].data_content.state=='paid')\n  && (nodes.a.data_content.n > 1)";
  expect(readRows(written)).toEqual(
    readRows('nodes.a.data_content.state == "paid" && nodes.a.data_content.n > 1'),
  );
});

test.each([
  [
    'both joins',
    'nodes.a.data_content.a == 1 && (nodes.a.data_content.b == 2 || nodes.a.data_content.c == 3)',
  ],
  ['two fields', 'nodes.a.data_content.a == nodes.b.data_content.a'],
  ['arithmetic', 'nodes.a.data_content.a + 1 == 2'],
  ['a loop', 'nodes.a.data_content.items.exists(i, i.n > 1)'],
  ['an optional key', 'nodes.a.data_content.?x.orValue(1) == 1'],
  ['the value of an optional key', 'nodes.a.data_content.?x.value() == 1'],
  ['hasValue() of a value', 'nodes.a.data_content.x.hasValue()'],
  ['the test of a field of a node that may be skipped', 'has(nodes.?a.data_content.x)'],
  ['the same for any key', 'nodes.?a.data_content.?x.hasValue()'],
  ['the same before a row', 'has(nodes.?a.data_content.x) && nodes.a.data_content.x > 1'],
  ['the test of a member of a node that may be skipped', 'nodes.?a.?text_content.hasValue()'],
  ['the test of a field of a variable that may be missing', 'vars.?limits.most.hasValue()'],
  ['a negated comparison', '!(nodes.a.data_content.a == 1)'],
  ['a field alone', 'nodes.a.data_content.ok'],
  ['a size that is compared otherwise', 'size(nodes.a.data_content.list) == 3'],
  ['a number that is not exact', 'nodes.a.data_content.id == 9007199254740993'],
  ['a computed key', 'nodes.a.data_content[nodes.a.text_content] == 1'],
  ['a comment', 'nodes.a.data_content.a == 1 // paid'],
  ['the literal first', '1 == nodes.a.data_content.a'],
  ['true', 'true'],
  ['no CEL', 'if a then b'],
  ['an empty text', ''],
])('%s has no rows', (_what, source) => {
  expect(readRows(source)).toBeUndefined();
});

test('a text with two slashes is no comment', () => {
  expect(readRows('nodes.a.text_content.startsWith("https://")')).toBeDefined();
});

const text = fc.string({ unit: 'grapheme' }).map((value) => value.toWellFormed());
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
const path = fc.array(fc.oneof(text, fc.nat({ max: 99 }), fc.constantFrom('total', 'in', '__proto__')), {
  maxLength: 3,
});
const row = fc
  .tuple(fc.constantFrom(...OPERATOR_NAMES), path, text, fc.oneof(number, fc.integer()))
  .map(([operator, steps, asText, asNumber]): Row => {
    const { form, hasValue } = operatorOf(operator);
    const value = form === 'method' || asText.length % 2 === 0 ? asText : asNumber;
    return { field: field(...steps), operator, ...(hasValue && { value }) };
  })
  .filter((each) => isAllowed(each.operator, each.field));
const rows = fc
  .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(row, { minLength: 1, maxLength: 4 }))
  .map(([join, list]): Rows => ({ join: list.length === 1 ? 'and' : join, rows: list }));

test('whatever rows are written, they compile and are read back as they were', () => {
  fc.assert(
    fc.property(rows, (given) => {
      const source = printRows(given) ?? '';
      compileCondition(source);
      expect(readRows(source)).toEqual(given);
    }),
  );
});

const STEPS = ['nodes', 'a', 'data_content', 'b'] as const;

/** The tests of these fields, with every choice of the steps that need not exist. */
const TESTS = [
  ...[2, 3, 4].map((length) => STEPS.slice(0, length)),
  [...STEPS, 'c'],
  ['nodes', 'a', 'headers', 'b'],
  ['nodes', 'each', 'item', 'b'],
  ['previous', 'data_content', 'b'],
  ['vars', 'b'],
  ['vars', 'b', 'c'],
  ['run', 'id'],
].flatMap(([root = '', ...steps]) =>
  Array.from({ length: 2 ** steps.length }, (_, choice) => {
    const path = steps.map((step, at) => ((choice >> at) & 1 ? `.?${step}` : `.${step}`)).join('');
    return [`has(${root}${path})`, `${root}${path}.hasValue()`];
  }).flat(),
);

const OUTPUTS: (Partial<NodeOutput> | undefined)[] = [
  undefined,
  { error: {} },
  { data_content: null },
  { data_content: {} },
  { data_content: { b: 1 } },
  { text_content: '', data_content: { b: { c: 1 } }, headers: { b: '' } },
];

/** What the condition yields in each of these scopes; undefined: it fails. */
function outcomesOf(source: string): (boolean | undefined)[] {
  const condition = compileCondition(source);
  return OUTPUTS.flatMap((output) =>
    [{}, { b: 1 }, { b: { c: 1 } }].map((some) => {
      const node = (id: string) => (id === 'each' ? { item: some, index: 0 } : output);
      try {
        return evaluateCondition(condition, { node, previous: 'a', vars: some });
      } catch {
        return undefined;
      }
    }),
  );
}

function isCompiled(source: string): boolean {
  try {
    compileCondition(source);
    return true;
  } catch {
    return false;
  }
}

const VALID_TESTS = TESTS.filter(isCompiled);

test.each(VALID_TESTS)('%s means the same, where it did not fail, once it is written as rows', (source) => {
  const read = readRows(source);
  // CEL stays as it is where it has no rows.
  const written = read === undefined ? source : (printRows(read) ?? '');
  const before = outcomesOf(source);
  const after = outcomesOf(written);
  expect(after).toEqual(before.map((outcome, at) => outcome ?? after[at]));
});

const DATA = { total: 250, state: 'paid', tags: ['vip', 'new'], ok: true, note: null, big: 2 ** 60 };
const holdsFor = (given: Row, output: Partial<NodeOutput>): boolean =>
  evaluateCondition(compileCondition(printRows(one(given)) ?? ''), { node: () => output, previous: 'a' });
const holds = (given: Row, data: unknown = DATA): boolean =>
  holdsFor(given, { text_content: '', data_content: data });

test.each<[boolean, Row]>([
  [true, { field: field('total'), operator: 'greater', value: 100 }],
  [true, { field: field('total'), operator: 'equals', value: 250 }],
  [false, { field: field('total'), operator: 'atMost', value: 249.5 }],
  [true, { field: field('big'), operator: 'equals', value: 2 ** 60 }],
  [true, { field: field('state'), operator: 'startsWith', value: 'pa' }],
  [false, { field: field('state'), operator: 'notEquals', value: 'paid' }],
  [true, { field: field('tags'), operator: 'includes', value: 'vip' }],
  [true, { field: field('tags'), operator: 'notIncludes', value: 'old' }],
  [false, { field: field('tags'), operator: 'isEmpty' }],
  [true, { field: field('ok'), operator: 'isTrue' }],
  [true, { field: field('note'), operator: 'isNull' }],
  [true, { field: field('coupon'), operator: 'missing' }],
  [false, { field: field('coupon'), operator: 'exists' }],
])('it is %s of an order that %o', (expected, given) => {
  expect(holds(given)).toBe(expected);
});

/** Operators that hold for a field that is missing, as in n8n. */
const WITHOUT: Operator[] = [
  'notEquals',
  'notContains',
  'isFalse',
  'notIncludes',
  'isEmpty',
  'missing',
  'isNull',
];

test.each(OPERATOR_NAMES)('a field that is missing does not fail %s', (operator) => {
  const paths = [
    ['x'],
    ['order', 'x'],
    ['order', 'buyer', 'x'],
    ['list', 0, 'x'],
    ['any key'],
    ['state', 'x'],
  ];
  const { hasValue } = operatorOf(operator);
  const rowsOf = paths.map(
    (steps): Row => ({ field: field(...steps), operator, ...(hasValue && { value: '' }) }),
  );
  for (const data of [{}, { order: {}, list: [], state: 'paid' }, null, 'a text', [], 3]) {
    const outcomes = rowsOf.map((each) => holds(each, data));
    expect(outcomes).toEqual(rowsOf.map(() => WITHOUT.includes(operator)));
  }
});

/** A node that failed and let the run continue, a webhook without headers, and a node that did not fail. */
const ABSENT: [string, Partial<NodeOutput>, Field[]][] = [
  [
    'a failed node',
    { error: { reason: 'Timeout', message: '' } },
    [
      ['text_content'],
      ['data_content'],
      ['data_content', 'status'],
      ['data_content', 'body', 'n'],
      ['data_content', 'list', 0],
      ['error', 'code'],
      ['headers', 'x-event'],
    ],
  ],
  ['an event without headers', { text_content: '', data_content: {} }, [['headers'], ['headers', 'x-event']]],
  ['a node that succeeded', { text_content: '', data_content: {} }, [['error'], ['error', 'reason']]],
  ['the first of a repeated group', { text_content: '' }, [['data_content'], ['data_content', 'n']]],
];

test.each(ABSENT)('what %s does not have fails no row', (_what, output, paths) => {
  for (const operator of OPERATOR_NAMES) {
    const { hasValue } = operatorOf(operator);
    const outcomes = paths
      .flatMap((path) => [
        ['nodes', 'a', ...path],
        ['previous', ...path],
      ])
      .map((each) => holdsFor({ field: each, operator, ...(hasValue && { value: '' }) }, output));
    expect(outcomes).toEqual(outcomes.map(() => WITHOUT.includes(operator)));
  }
});

test.each<[string | number, string, string | undefined, string | number | undefined]>([
  [5, '5', 'number', ''],
  [5, ' 5 ', undefined, ''],
  ['5', '5', 'text', ''],
  ['56', '56', undefined, '5'],
  [56, '56', undefined, 5],
  ['1.', '1.', 'number', 1],
  ['abc', 'abc', 'number', 1],
  ['', '', undefined, 1],
  ['0012', '0012', undefined, ''],
])('the value is %o for the text "%s" and the type %s, after %o', (value, typed, type, before) => {
  expect(valueFrom(typed, type, before)).toBe(value);
});

test.each([
  ['contains', 'number', 'text'],
  ['greater', 'number', 'number'],
  ['equals', 'text', 'text'],
  ['equals', 'boolean', undefined],
  ['includes', 'list', undefined],
] as const)('%s of a field of type %s takes a value of type %s', (operator, type, expected) => {
  expect(valueType(operator, type)).toBe(expected);
});

test.each<[Operator, string | number, string | undefined, boolean]>([
  ['greater', 'hundert', 'number', true],
  ['atMost', '12 EUR', 'number', true],
  ['greater', 100, 'number', false],
  ['greater', '-', 'number', false],
  ['greater', '1.', 'number', false],
  ['greater', '', 'number', false],
  ['greater', 'hundert', 'text', false],
  ['greater', 'hundert', undefined, false],
  ['equals', 'hundert', 'number', false],
])('%s with %j has a problem for a field of type %s: %s', (operator, value, type, has) => {
  expect(valueProblem({ operator, value }, type) !== undefined).toBe(has);
});

test.each<[Operator, string | number | undefined, boolean]>([
  ['equals', '', true],
  ['equals', undefined, true],
  ['equals', 0, false],
  ['equals', 'paid', false],
  ['isEmpty', undefined, false],
])('%s with %j lacks a value: %s', (operator, value, lacks) => {
  expect(lacksValue({ operator, ...(value !== undefined && { value }) })).toBe(lacks);
});

const chosen = { field: ['nodes', 'a', 'text_content'] };

test.each([
  [[], 'Always.'],
  [[{}, {}], 'Always.'],
  [[chosen, {}], 'A row without a field is left out.'],
  [[chosen], undefined],
])('of the rows %j an author is told: %s', (rows, note) => {
  expect(rowsNote(rows, 'Always.')).toBe(note);
});

test.each<[Operator, string | number, boolean]>([
  ['greater', 100, true],
  ['atMost', 0, true],
  ['greater', 'b', false],
  ['equals', 100, false],
])(
  'the author of a row with %s and %j is told that the value must be a number: %s',
  (operator, value, told) => {
    expect(orderNote({ operator, value }) !== undefined).toBe(told);
  },
);
