/** What holds for every expression and every text. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { valueOf } from '../../test/support/data/orderScope.ts';
import { outcomeOf } from '../../test/support/data/outcome.ts';
import { compileCondition } from '../cel.ts';
import { ExpressionError } from '../expression/errors.ts';

const ATOMS = [
  'order',
  'item',
  'index',
  'true',
  'null',
  '1',
  '2.5',
  '1u',
  '"a"',
  '[1, "b"]',
  '{"a": 1}',
  'nodes.agent',
  'x',
];
const shapes: ((a: string, b: string, c: string) => string)[] = [
  (a, b) => `${a} + ${b}`,
  (a, b) => `${a} == ${b}`,
  (a, b) => `(${a} < ${b})`,
  (a, b) => `${a} in ${b}`,
  (a, b) => `(${a} && ${b} || ${a})`,
  (a, b, c) => `(${a} ? ${b} : ${c})`,
  (a, b) => `${a}[${b}]`,
  (a) => `${a}.items`,
  (a) => `has(${a}.name)`,
  (a) => `!${a}`,
  (a) => `-${a}`,
  (a, b) => `${a}.map(x, ${b})`,
  (a, b) => `${a}.filter(x, ${b})`,
  (a, b) => `${a}.exists(x, ${b})`,
  (a) => `size(${a})`,
  (a) => `string(${a})`,
  (a) => `int(${a})`,
  (a) => `timestamp(${a})`,
  (a) => `duration(${a})`,
  (a, b) => `${a}.contains(${b})`,
  (a, b) => `${a}.split(${b}).join(${b})`,
  (a, b) => `${a} % ${b} / ${a} * ${b}`,
  (a, b) => `${a}.getHours(${b})`,
  (a, b) => `${a}.substring(${b})`,
  (a, b) => `${a}.sortBy(x, ${b})`,
  (a, b) => `${a}.groupBy(x, ${b})`,
  (a, b) => `${a}.transformList(i, x, ${b})`,
  (a, b) => `${a}.transformMapEntry(i, x, ${b})`,
  (a, b) => `${a}.all(i, x, ${b})`,
  (a, b) => `cel.bind(x, ${a}, ${b})`,
  (a) => `${a}.sort().distinct()`,
  (a, b) => `${a}.flatten(${b})`,
  (a, b) => `${a}.format([${b}])`,
  (a, b) => `${a}.format(${b})`,
  (a, b) => `${a}.replace(${b}, ${a})`,
  (a, b) => `${a}.matches(${b})`,
  (a, b) => `regex.extract(${a}, ${b}).orValue(${b})`,
  (a, b) => `${a}[?${b}].orValue(${a})`,
  (a, b) => `${a}.?items.or(optional.of(${b})).value()`,
  (a, b) => `math.greatest(${a}, ${b})`,
  (a) => `json.decode(json.encode(${a}))`,
  (a) => `base64.encode(bytes(${a}))`,
  (a, b) => `${a}.merge(${b})`,
  (a) => `${a}.sum()`,
];
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.constantFrom(...ATOMS),
    fc
      .tuple(fc.constantFrom(...shapes), tie('expression'), tie('expression'), tie('expression'))
      .map(([shape, a, b, c]) => shape(a, b, c)),
  ),
}));

test('whatever the expression is, it yields JSON or fails with an ExpressionError', () => {
  fc.assert(
    fc.property(expression, (source) => {
      const { value, error } = outcomeOf(() => valueOf(source));
      const clear =
        error === undefined ? JSON.stringify(value) !== undefined : error instanceof ExpressionError;
      expect(clear).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test('whatever the text is, compiling gives an expression or an ExpressionError', () => {
  const fragment = fc.constantFrom(
    'nodes',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '&&',
    '?',
    ':',
    'has',
    '1',
    'e',
    'all',
  );
  const source = fc.array(fc.oneof(fragment, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 20 });
  fc.assert(
    fc.property(source, (parts) => {
      const { error } = outcomeOf(() => compileCondition(parts.join('')));
      expect(error === undefined || error instanceof ExpressionError).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
