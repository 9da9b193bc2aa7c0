/**
 * A step budget for CEL, which cel-js lacks. Guarantees that one evaluation does at most about `STEPS` steps
 * of bounded work before it fails: loops are charged for all their elements before they start, comparisons
 * for the size of their operands, functions for the length of their strings. A step is about the work of one
 * operator.
 */
import { type ASTNode, EvaluationError } from '@marcbachmann/cel-js';
import { ExpressionError } from '../expression/errors.ts';
import { extraPrice, matchesPattern } from './library.ts';
import { equalValues } from './order.ts';
import { deepSize, elementCount, entriesOf, isCollection, width } from './size.ts';
import { callParts, evaluated, loopParts, macroLoopOf, operands, type SyntaxNode } from './syntax.ts';
import { assertDate, isTime } from './times.ts';

/** The budget of one evaluation. */
export const STEPS = 1_000_000;

/** The longest string that `int(x)`, `duration(x)`, … convert: cel-js takes quadratic time for long ones. */
const CONVERSION_LENGTH = 64;

/**
 * The remaining steps of the current evaluation. Evaluation is synchronous, so one meter per expression is
 * enough.
 */
export type Meter = { left: number };

/**
 * Ends the evaluation. Created once, because after an overrun every remaining element of a loop throws it.
 */
const EXHAUSTED = new Error('the step budget is used up');

/** Charges every operator of a checked expression to a meter. Call once, after the type check. */
export function meterExpression(root: SyntaxNode): Meter {
  const meter: Meter = { left: STEPS };
  meterNode(root, meter, new Set());
  return meter;
}

/** Throws if the budget was overrun: `||`, `&&` and the loops may have swallowed the error. */
export function assertWithinBudget(meter: Meter): void {
  if (meter.left < 0) {
    throw new ExpressionError(
      'Limit',
      `the expression takes more than ${STEPS} steps on this data: simplify it, or reduce the data`,
    );
  }
}

/** Charges the nodes of one tree to the meter. Returns their number. */
function meterNode(written: SyntaxNode, meter: Meter, seen: Set<SyntaxNode>): number {
  const node = evaluated(written);
  if (seen.has(node)) return 0;
  seen.add(node);
  const macro = macroLoopOf(node);
  if (macro) {
    const each = macro.bodies.reduce((sum, body) => sum + meterNode(body, meter, seen), 1);
    macro.spend = (elements) => spend(meter, elements * each);
    for (const body of macro.bodies) chargeFailures(body, meter);
    return each + 1 + meterNode(macro.receiver, meter, seen);
  }
  const loop = loopParts(node);
  if (!loop) {
    const size = operands(node).reduce((sum, operand) => sum + meterNode(operand, meter, seen), 1);
    wrap(node, meter, priceOf(node));
    if (node.op === 'map') operands(node).forEach((part, at) => at % 2 === 0 && refuseLostKeys(part));
    if (node.op === '||' || node.op === '&&')
      operands(node).forEach((operand) => chargeFailures(operand, meter));
    return size;
  }
  const once = meterNode(loop.iterable, meter, seen) + meterNode(loop.init, meter, seen);
  const each = meterNode(loop.step, meter, seen);
  wrap(node, meter, ([items]) => elementCount(items) * each);
  chargeFailures(loop.step, meter);
  return once + each + 1;
}

type Price = (operands: readonly unknown[], meter: Meter) => number;

function wrap(node: SyntaxNode, meter: Meter, price: Price): void {
  const handle = handlerOf(node);
  if (!handle) return;
  const makesValues = MAKES_VALUES.has(node.op);
  node.handle = (...values) => {
    spend(meter, 1 + price(values, meter));
    const result = handle(...values);
    assertInRange(result, node);
    if (makesValues) spend(meter, width(result));
    return result;
  };
}

/**
 * The handler that cel-js selected, except for `matches`, which takes exponential time there, for the
 * equality of collections, which ignores exact numbers, and for `timestamp`, which accepts days that no month
 * has.
 */
function handlerOf(node: SyntaxNode): SyntaxNode['handle'] {
  const { handle } = node;
  const call = callParts(node);
  if (call?.name === 'matches') return (values) => matchesPattern(Array.isArray(values) ? values : []);
  if (!handle) return undefined;
  if (call?.name === 'timestamp')
    return (values, ...rest) => {
      if (Array.isArray(values)) assertDate(values[0]);
      return handle(values, ...rest);
    };
  const equality = Object.hasOwn(EQUALITIES, node.op) ? EQUALITIES[node.op] : undefined;
  return equality ? (...values) => equality(values[0], values[1]) ?? handle(...values) : handle;
}

/** The result for collections; undefined for other values, which cel-js compares. */
const EQUALITIES: Record<string, (left: unknown, right: unknown) => boolean | undefined> = {
  '==': equalCollections,
  '!=': (left, right) => {
    const isEqual = equalCollections(left, right);
    return isEqual === undefined ? undefined : !isEqual;
  },
  in: (left, right) => (Array.isArray(right) ? right.some((item) => equalValues(left, item)) : undefined),
};

function equalCollections(left: unknown, right: unknown): boolean | undefined {
  const areLists = Array.isArray(left) && Array.isArray(right);
  const areObjects =
    !Array.isArray(left) && !Array.isArray(right) && entriesOf(left) !== undefined && entriesOf(right);
  return areLists || areObjects ? equalValues(left, right) : undefined;
}

/** @throws EvaluationError for an int beyond int64, or a time outside of the years 1 to 9999 */
function assertInRange(result: unknown, node: SyntaxNode): void {
  const isInt = typeof result === 'bigint';
  if (isInt ? BigInt.asIntN(64, result) === result : !(result instanceof Date) || isTime(result)) return;
  throw new EvaluationError({
    code: isInt ? 'numeric_overflow' : 'timestamp_overflow',
    message: isInt ? 'integer overflow' : 'timestamp overflow: the year must be from 1 to 9999',
    node: node as unknown as ASTNode,
  });
}

/**
 * Charges a node when it fails. `||`, `&&` and the loops continue after a failure, and an error is expensive
 * to create.
 */
function chargeFailures(written: SyntaxNode, meter: Meter): void {
  aroundEvaluation(written, (evaluate) => {
    spend(meter, 0);
    try {
      return evaluate();
    } catch (error) {
      spend(meter, FAILURE_STEPS + written.end / SOURCE_CHARACTERS_PER_STEP);
      throw error;
    }
  });
}

/** cel-js leaves out members with these keys from an object that an expression writes. */
const LOST_KEYS: readonly unknown[] = ['__proto__', 'constructor', 'prototype'];

function refuseLostKeys(key: SyntaxNode): void {
  aroundEvaluation(key, (evaluate) => {
    const value = evaluate();
    if (!LOST_KEYS.includes(value)) return value;
    throw new ExpressionError('Type', `a key in { } must not be ${String(value)}: choose another key`);
  });
}

/** The property is an accessor, because the package replaces a plain one. */
function aroundEvaluation(written: SyntaxNode, around: (evaluate: () => unknown) => unknown): void {
  let { evaluate } = written;
  const replaced = (...context: unknown[]) => around(() => evaluate.apply(written, context));
  Object.defineProperty(written, 'evaluate', {
    get: () => replaced,
    set: (replacement: SyntaxNode['evaluate']) => {
      evaluate = replacement;
    },
  });
}

/** The price of an error: its stack trace, and a scan of the source up to its position. */
const FAILURE_STEPS = 250;
const SOURCE_CHARACTERS_PER_STEP = 4;

/** The operators whose result can be larger than their operands. */
const MAKES_VALUES = new Set(['+', 'call', 'rcall']);

function spend(meter: Meter, steps: number): void {
  meter.left -= steps;
  if (meter.left < 0) throw EXHAUSTED;
}

function priceOf(node: SyntaxNode): Price {
  const call = callParts(node);
  if (call) {
    return ([values], meter) =>
      Array.isArray(values)
        ? callPrice(call.name, call.receiver, values) + extraPrice(call.name, values, meter.left)
        : 0;
  }
  return PRICES[node.op] ?? (() => 0);
}

const PRICES: Record<string, Price> = {
  '==': comparisonPrice,
  '!=': comparisonPrice,
  '+': ([left, right]) => width(left) + width(right),
  '<': ([left, right]) => width(left) + width(right),
  '<=': ([left, right]) => width(left) + width(right),
  '>': ([left, right]) => width(left) + width(right),
  '>=': ([left, right]) => width(left) + width(right),
  in: ([member, collection]) => {
    if (!isCollection(member)) return elementCount(collection) + width(member);
    throw new ExpressionError(
      'Type',
      'the left side of in must be a string, a number or a boolean, not a list or an object',
    );
  },
};

function comparisonPrice([left, right]: readonly unknown[], meter: Meter): number {
  if (!isCollection(left) || !isCollection(right)) return width(left);
  return deepSize(left, meter.left) + deepSize(right, meter.left);
}

const SEARCHES = new Set(['contains', 'startsWith', 'endsWith', 'indexOf', 'lastIndexOf', 'split']);
const CONVERSIONS = new Set(['int', 'double', 'bool', 'timestamp', 'duration']);

function callPrice(name: string, receiver: boolean, values: readonly unknown[]): number {
  const [text, argument] = values;
  const widths = values.reduce((sum: number, value) => sum + width(value), 0);
  if (CONVERSIONS.has(name) && typeof text === 'string' && text.length > CONVERSION_LENGTH) {
    throw new ExpressionError(
      'Limit',
      `${name}() accepts a string of at most ${CONVERSION_LENGTH} characters`,
    );
  }
  if (SEARCHES.has(name) && typeof text === 'string' && typeof argument === 'string') {
    return widths + (text.length * argument.length) / COMPARED_PER_STEP;
  }
  const inTimeZone = receiver && name.startsWith('get') && values.length > 1;
  return widths + (inTimeZone ? TIME_ZONE_STEPS : 0);
}

/** A string search may compare every character of one string with every character of the other. */
const COMPARED_PER_STEP = 512;
/** A calculation in a time zone formats and parses a date. */
const TIME_ZONE_STEPS = 500;
