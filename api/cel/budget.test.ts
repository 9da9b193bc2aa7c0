/** The limits of expressions and of one evaluation. */
import { expect, test } from 'vitest';
import { BIG, numbers } from '../../test/support/data/bigScope.ts';
import { errorOf } from '../../test/support/data/outcome.ts';
import { compileCondition, compileValueExpression, evaluateCondition, evaluateValue } from '../cel.ts';
import type { Scope } from '../expression/scope.ts';
import { STEPS } from './budget.ts';
import { CEL_LIMITS } from './environment.ts';

test('an expression may be 4096 characters long, 32 deep and 500 nodes large', () => {
  const depth = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)} == 1 || true`;
  expect(errorOf(() => compileCondition(`true${' '.repeat(CEL_LIMITS.sourceLength)}`)).code).toBe('Limit');
  expect(errorOf(() => compileCondition(depth(100))).code).toBe('Limit');
  expect(errorOf(() => compileCondition(Array(501).fill('true').join(' && '))).code).toBe('Limit');
  expect(errorOf(() => compileCondition(`1 in [${Array(102).fill('1').join()}]`)).code).toBe('Limit');
  const large = compileCondition(Array(250).fill('true').join('&&'));
  expect(evaluateCondition(large, BIG)).toBe(true);
});

test('a budget that was used up is whole again for the next evaluation', () => {
  const condition = compileCondition('nodes.a.data_content.all(a, nodes.a.data_content.all(b, a + b >= 0))');
  const scopeOf = (data: unknown): Scope => ({ node: () => ({ text_content: '', data_content: data }) });
  expect(errorOf(() => evaluateCondition(condition, scopeOf(numbers))).message).toContain(`${STEPS} steps`);
  expect(evaluateCondition(condition, scopeOf([1, 2]))).toBe(true);
});

test('a loop over ten thousand objects is well within the budget', () => {
  const condition = compileCondition(
    'nodes.a.data_content.objects.filter(o, o.value > 100 && o.inner.list[0] < 500).size() == 399',
  );
  expect(evaluateCondition(condition, BIG)).toBe(true);
});

test('a result larger than 512 Ki characters is refused', () => {
  const expression = compileValueExpression('[nodes.a.text_content, nodes.a.text_content]');
  expect(errorOf(() => evaluateValue(expression, BIG)).code).toBe('Limit');
});

test('data that is nested too deep is refused, not a stack overflow', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  const scope: Scope = { node: () => ({ text_content: '', data_content: deep }) };
  expect(errorOf(() => evaluateCondition(compileCondition('nodes.a.data_content == 1'), scope)).code).toBe(
    'Limit',
  );
});
