/**
 * Values in CEL for the skill `set`: an expression, or an object or list of expressions. Guarantees that all
 * of them share one evaluation budget, and that the result is not larger than a value may be.
 */
import {
  compileValueExpression,
  evaluateValue,
  stepBudget,
  valueReferences,
  type CelOptions,
  type StepBudget,
  type ValueExpression,
} from '../../api/cel.ts';
import { ExpressionError } from '../../api/expression/errors.ts';
import { OUTPUT_LIMIT } from '../../api/expression/evaluate.ts';
import { printPath, type PathStep, type Reference } from '../../api/expression/reference.ts';
import type { Scope } from '../../api/expression/scope.ts';

export type CompiledValues =
  | { kind: 'literal'; value: unknown }
  | { kind: 'expression'; path: string; expression: ValueExpression }
  | { kind: 'list'; items: readonly CompiledValues[] }
  | { kind: 'object'; entries: readonly (readonly [string, CompiledValues])[] };

const LIMITS = { expressions: 100, depth: 16 } as const;

/** Where a value stands, and how many expressions there have been so far. */
type Place = { steps: readonly PathStep[]; options: CelOptions; count: { expressions: number } };

/**
 * Compiles what stands under `values`.
 * @throws ExpressionError that begins with where the expression stands, for example `values.total: line 1, …`
 */
export function compileValues(values: unknown, options: CelOptions = {}): CompiledValues {
  return compileAt(values, { steps: ['values'], options, count: { expressions: 0 } });
}

/** The nodes that an expression names, and what it reads out of them. */
type Named = {
  path: string;
  ids: readonly string[];
  names: ValueExpression['names'];
  reads: readonly Reference[];
  source: string;
};

/** The nodes that each expression names. */
export function nodesNamed(compiled: CompiledValues): Named[] {
  if (compiled.kind === 'literal') return [];
  if (compiled.kind === 'expression') {
    const { path, expression } = compiled;
    const { references, names } = expression;
    const { source } = expression;
    return [{ path, ids: references, names, reads: valueReferences(expression), source }];
  }
  const parts = compiled.kind === 'list' ? compiled.items : compiled.entries.map(([, value]) => value);
  return parts.flatMap(nodesNamed);
}

/**
 * The values, as JSON.
 * @throws ExpressionError as `evaluateValue` does, beginning with where the expression stands; `Limit` when
 * they are too large
 */
export function evaluateValues(compiled: CompiledValues, scope: Scope): unknown {
  return evaluateAt(compiled, scope, { budget: stepBudget(), room: OUTPUT_LIMIT });
}

function compileAt(value: unknown, place: Place): CompiledValues {
  if (typeof value === 'string') return compileExpression(value, place);
  if (typeof value !== 'object' || value === null) return { kind: 'literal', value };
  if (place.steps.length > LIMITS.depth) {
    const path = pathOf(place);
    throw new ExpressionError('Limit', `values must be nested at most ${LIMITS.depth} levels deep`, { path });
  }
  const below = (step: PathStep): Place => ({ ...place, steps: [...place.steps, step] });
  if (Array.isArray(value)) {
    return { kind: 'list', items: value.map((item: unknown, index) => compileAt(item, below(index))) };
  }
  const entries = Object.entries(value).map(([key, item]) => [key, compileAt(item, below(key))] as const);
  return { kind: 'object', entries };
}

function compileExpression(source: string, place: Place): CompiledValues {
  const path = pathOf(place);
  place.count.expressions += 1;
  if (place.count.expressions > LIMITS.expressions) {
    throw new ExpressionError('Limit', `at most ${LIMITS.expressions} expressions are allowed`, { path });
  }
  return at(path, () => ({
    kind: 'expression',
    path,
    expression: compileValueExpression(source, place.options),
  }));
}

function pathOf({ steps }: Place): string {
  return printPath(steps).replace(/^\./, '');
}

type Evaluation = { budget: StepBudget; room: number };

function evaluateAt(compiled: CompiledValues, scope: Scope, evaluation: Evaluation): unknown {
  switch (compiled.kind) {
    case 'literal':
      return compiled.value;
    case 'expression':
      return at(compiled.path, () => {
        const value = evaluateValue(compiled.expression, scope, evaluation.budget);
        evaluation.room -= JSON.stringify(value).length;
        if (evaluation.room >= 0) return value;
        throw new ExpressionError(
          'Limit',
          `with it the values are larger than ${OUTPUT_LIMIT} characters of JSON`,
        );
      });
    case 'list':
      return compiled.items.map((item) => evaluateAt(item, scope, evaluation));
    case 'object':
      return Object.fromEntries(
        compiled.entries.map(([key, item]) => [key, evaluateAt(item, scope, evaluation)]),
      );
  }
}

/** Tells which of the values an error is about. */
function at<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { code, detail, position, missing } = error;
    throw new ExpressionError(code, detail, { path, position, missing });
  }
}
