/**
 * Expressions in CEL (https://cel.dev): conditions of edges, and values. Guarantees: an expression is
 * compiled and type checked once; evaluation throws only `ExpressionError`, reads own properties only,
 * changes nothing, and ends within a step budget whatever the expression and the data are. No expression is
 * executed as JavaScript.
 */
import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { assertWithinBudget, type Meter, meterExpression, STEPS } from './cel/budget.ts';
import { CEL_LIMITS, EDGE_ENVIRONMENT, FOR_EACH_ENVIRONMENT } from './cel/environment.ts';
import { explainEvaluation, explainSyntax, plainSummary, positionOf, referencesIn } from './cel/explain.ts';
import { habitIn } from './cel/habits.ts';
import { checkRules, type Names } from './cel/rules.ts';
import { isSyntaxNode, type SyntaxNode } from './cel/syntax.ts';
import { fromCel, toCel } from './cel/values.ts';
import { ExpressionError, positionAt } from './expression/errors.ts';
import { NODE_MEMBERS, type Reference } from './expression/reference.ts';
import type { NodeOutput, Scope } from './expression/scope.ts';

/**
 * A compiled expression that yields any JSON value. It is cached with its revision and cannot be serialized.
 */
export type ValueExpression = {
  readonly source: string;
  /** The IDs of the nodes whose outputs it references, without duplicates, except that of `previous`. */
  readonly references: readonly string[];
  readonly names: Names;
  readonly program: ParseResult;
  readonly meter: Meter;
};

/** A compiled expression that yields true or false. */
export type Condition = ValueExpression & { readonly condition: true };

/**
 * `forEach`: the expression is part of a node with forEach and may use `item` and `index`. `hasParameters`:
 * nodes have `parameters`, too.
 */
export type CelOptions = { forEach?: boolean; hasParameters?: boolean };

/**
 * Compiles a condition.
 * @throws ExpressionError `Syntax`, `Limit` or `Type` with line and column: it cannot be parsed, uses an
 *   unsupported function, is too large, or never yields a boolean
 */
export function compileCondition(source: string, options: CelOptions = {}): Condition {
  const { type, ...expression } = compile(source, options);
  if (type === 'bool' || type === 'dyn') return { ...expression, condition: true };
  throw new ExpressionError('Type', `a condition must be of type bool, not ${type}`, {
    position: positionAt(source, 0),
  });
}

/** Compiles an expression that yields any value. @throws ExpressionError as `compileCondition` does */
export function compileValueExpression(source: string, options: CelOptions = {}): ValueExpression {
  const { type: _, ...expression } = compile(source, options);
  return expression;
}

/**
 * The IDs of the nodes that the condition references, without duplicates. All of them must be predecessors.
 */
export function conditionReferences(condition: ValueExpression): readonly string[] {
  return condition.references;
}

/** The references in the expression, each up to the first computed key. */
export function valueReferences({ program }: ValueExpression): readonly Reference[] {
  const root: unknown = program.ast;
  return isSyntaxNode(root) ? referencesIn(root) : [];
}

/**
 * Whether the condition holds.
 * @throws MissingValueError for a value that does not exist; ExpressionError `Type` for operands of wrong
 *   types or a result that is not a boolean; `Limit` when the step budget is used up
 */
export function evaluateCondition(condition: Condition, scope: Scope): boolean {
  const result = run(condition, scope);
  if (typeof result === 'boolean') return result;
  throw new ExpressionError('Type', `the condition must yield true or false: ${condition.source}`);
}

/** The remaining steps that several expressions share. */
export type StepBudget = { left: number };

/** The budget of one evaluation. */
export function stepBudget(): StepBudget {
  return { left: STEPS };
}

/** The value of the expression as JSON, a copy. @throws ExpressionError as `evaluateCondition` does */
export function evaluateValue(
  expression: ValueExpression,
  scope: Scope,
  budget: StepBudget = stepBudget(),
): unknown {
  return fromCel(run(expression, scope, budget));
}

function compile(source: string, options: CelOptions): ValueExpression & { type: string } {
  if (source.length > CEL_LIMITS.sourceLength) {
    throw new ExpressionError(
      'Limit',
      `an expression must have at most ${CEL_LIMITS.sourceLength} characters`,
      {
        position: positionAt(source, CEL_LIMITS.sourceLength),
      },
    );
  }
  const { program, root, names } = read(source, options);
  const { valid, type = 'dyn', error } = program.check();
  if (!valid) throw libraryError('Type', error, source);
  return { source, references: names.nodes, names, program, meter: meterExpression(root), type };
}

type Read = { program: ParseResult; root: SyntaxNode; names: Names };

/**
 * Parses the expression and checks its names. Syntax of another language gets a more helpful error than the
 * parser's.
 */
function read(source: string, { forEach = false, hasParameters = false }: CelOptions): Read {
  try {
    const program = parse(forEach ? FOR_EACH_ENVIRONMENT : EDGE_ENVIRONMENT, source);
    const root: unknown = program.ast;
    if (!isSyntaxNode(root)) throw new ExpressionError('Syntax', `cannot be parsed: ${source}`);
    const scopeNames = forEach ? ['nodes', 'item', 'index'] : ['nodes'];
    const members = hasParameters ? [...NODE_MEMBERS, 'parameters'] : NODE_MEMBERS;
    const names = checkRules(source, root, scopeNames, members);
    return { program, root, names };
  } catch (error) {
    const habit = habitIn(source, { forEach });
    if (!(error instanceof ExpressionError) || error.code !== 'Syntax' || habit === undefined) throw error;
    throw new ExpressionError('Syntax', habit.instead, { position: positionAt(source, habit.offset) });
  }
}

function parse(environment: Environment, source: string): ParseResult {
  try {
    return environment.parse(source);
  } catch (error) {
    const isSyntax = isLibraryError(error) && error.code !== 'limit_exceeded';
    throw isSyntax ? explainSyntax(error, source) : libraryError('Syntax', error, source);
  }
}

type LibraryError = { code: string; summary: string; range?: { start: number } };

function isLibraryError(error: unknown): error is LibraryError {
  return error instanceof Error && 'summary' in error && 'code' in error;
}

function libraryError(code: 'Syntax' | 'Type', error: unknown, source: string): ExpressionError {
  if (!isLibraryError(error)) return new ExpressionError(code, `cannot be parsed: ${source}`);
  const kind = error.code === 'limit_exceeded' ? 'Limit' : code;
  return new ExpressionError(kind, plainSummary(error.summary), { position: positionOf(error, source) });
}

function run(expression: ValueExpression, scope: Scope, budget = stepBudget()): unknown {
  const { meter, program, names, source } = expression;
  meter.left = budget.left;
  try {
    const result: unknown = program(contextOf(names, scope));
    assertWithinBudget(meter);
    return result;
  } catch (error) {
    assertWithinBudget(meter);
    throw explainEvaluation(error, source, scope);
  } finally {
    budget.left = meter.left;
  }
}

const NONE: ReadonlyMap<string, unknown> = new Map();

/**
 * Holds only what the expression references. A Map, because a node ID may be the name of any property.
 */
function contextOf(names: Names, scope: Scope): Record<string, unknown> {
  return {
    nodes: names.nodes.length === 0 ? NONE : outputsOf(names.nodes, scope),
    previous: names.previous ? previousOf(scope) : NONE,
    run: names.run ? (scope.run ?? {}) : NONE,
    vars: names.variables.length === 0 ? NONE : variablesOf(names.variables, scope),
    item: toCel(scope.item),
    index: scope.index === undefined ? undefined : BigInt(scope.index),
  };
}

function outputsOf(ids: readonly string[], scope: Scope): Map<string, unknown> {
  const nodes = new Map<string, unknown>();
  for (const id of ids) {
    const output = scope.node(id);
    if (output) nodes.set(id, outputToCel(output));
  }
  return nodes;
}

function previousOf(scope: Scope): Map<string, unknown> {
  const previous = scope.previous === undefined ? undefined : scope.node(scope.previous);
  return new Map(Object.entries(previous ? outputToCel(previous) : {}));
}

function variablesOf(names: readonly string[], { vars }: Scope): Map<string, unknown> {
  const known = vars ? names.filter((name) => Object.hasOwn(vars, name)) : [];
  return new Map(known.map((name) => [name, toCel(vars?.[name])]));
}

function outputToCel(output: Partial<NodeOutput>): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(output)) if (value !== undefined) members[name] = toCel(value);
  return members;
}
