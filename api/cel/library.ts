/**
 * The functions that cel-js lacks: extension libraries of cel-go (lists, strings, math, encoders, regex), and
 * `sum`, `merge`, `json`. Guarantees: functions change nothing and throw only `ExpressionError`; a function
 * whose work is not proportional to the width of its operands and its result has a price of its own.
 */
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { type Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { parseBounded } from '../exact/exactNumber.ts';
import { ExpressionError } from '../expression/errors.ts';
import { formatText, quote, timestampText } from './format.ts';
import { compareValues, identityOf } from './order.ts';
import { extract, extractAll, matches, matchPrice, replaceMatches } from './patterns.ts';
import { deepSize, entriesOf, toObject, width } from './size.ts';
import { formatTime } from './times.ts';
import { fromCel, toCel } from './values.ts';

/** The namespaces, `math` in `math.round(x)`, and the names of their functions. */
export const NAMESPACES: Record<string, readonly string[]> = {
  cel: ['bind'],
  optional: ['of', 'none'],
  math: [
    'greatest',
    'least',
    'ceil',
    'floor',
    'round',
    'trunc',
    'abs',
    'sign',
    'sqrt',
    'isNaN',
    'isInf',
    'isFinite',
  ],
  lists: ['range'],
  strings: ['quote'],
  base64: ['encode', 'decode'],
  json: ['encode', 'decode'],
  regex: ['extract', 'extractAll', 'replace'],
};

/** The methods of values that this module adds. */
export const METHOD_NAMES: readonly string[] = [
  'sort',
  'distinct',
  'flatten',
  'slice',
  'reverse',
  'first',
  'last',
  'sum',
  'merge',
  'format',
  'replace',
  'charAt',
  'matches',
];

/** Adds the functions to an environment. */
export function registerLibrary(environment: Environment): void {
  for (const name of ['math', 'lists', 'strings', 'base64', 'json', 'regex']) {
    // cel-js tells types apart by their constructors, so that each namespace needs its own.
    const Namespace = class {
      readonly namespace = name;
    };
    environment
      .registerType(`Namespace.${name}`, Namespace)
      .registerConstant(name, `Namespace.${name}`, new Namespace());
  }
  for (const [signature, handler] of Object.entries({
    ...LISTS,
    ...STRINGS,
    ...MATH,
    ...TIMES,
    ...CODECS,
    ...PATTERNS,
  }))
    environment.registerFunction(signature, handler);
}

type Handlers = Record<string, (...values: never[]) => unknown>;

const LISTS: Handlers = {
  'list.sort(): list<dyn>': (list: unknown[]) => list.toSorted(compareValues),
  'list.distinct(): list<dyn>': distinct,
  'list.flatten(): list<dyn>': (list: unknown[]) => list.flat(1),
  'list.flatten(int): list<dyn>': (list: unknown[], depth: bigint) => {
    if (depth < 0n) throw new ExpressionError('Type', 'flatten() requires a depth of 0 or more');
    return list.flat(Number(depth));
  },
  'list.slice(int, int): list<dyn>': slice,
  'list.reverse(): list<dyn>': (list: unknown[]) => list.toReversed(),
  'list.first(): optional<dyn>': (list: unknown[]) => Optional.of(list[0]),
  'list.last(): optional<dyn>': (list: unknown[]) => Optional.of(list.at(-1)),
  'list.sum(): dyn': sum,
  'map.merge(map): map<dyn, dyn>': (one: unknown, other: unknown) =>
    toObject(
      new Map(
        [...(entriesOf(one) ?? []), ...(entriesOf(other) ?? [])].map(([key, value]) => [String(key), value]),
      ),
    ),
  'Namespace.lists.range(int): list<int>': (_: unknown, size: bigint) =>
    Array.from({ length: Number(size) }, (__, index) => BigInt(index)),
};

function distinct(list: unknown[]): unknown[] {
  const known = new Set<string>();
  return list.filter((item) => {
    const identity = identityOf(item);
    return known.has(identity) ? false : known.add(identity);
  });
}

function slice(list: unknown[], start: bigint, end: bigint): unknown[] {
  if (start >= 0n && start <= end && end <= BigInt(list.length))
    return list.slice(Number(start), Number(end));
  throw new ExpressionError(
    'Type',
    `slice() requires 0 <= start <= end <= ${list.length}, the size of the list`,
  );
}

/** An int for ints, a double if one of the numbers is a double. */
function sum(list: readonly unknown[]): number | bigint {
  let ints = 0n;
  let doubles = 0;
  let isDouble = false;
  for (const value of list) {
    if (typeof value === 'bigint') ints += value;
    else if (typeof value === 'number') {
      doubles += value;
      isDouble = true;
    } else throw new ExpressionError('Type', 'sum() can only add numbers: convert texts with double(…)');
  }
  return isDouble ? doubles + Number(ints) : ints;
}

const STRINGS: Handlers = {
  'string.format(list): string': formatText,
  'string.replace(string, string): string': (text: string, old: string, other: string) =>
    text.replaceAll(old, () => other),
  'string.replace(string, string, int): string': replaceSome,
  'string.charAt(int): string': (text: string, index: bigint) => {
    if (index >= 0n && index <= BigInt(text.length)) return text.charAt(Number(index));
    throw new ExpressionError(
      'Type',
      `charAt() requires an index from 0 to ${text.length}, the size of the text`,
    );
  },
  'string.reverse(): string': (text: string) => Array.from(text).toReversed().join(''),
  'Namespace.strings.quote(string): string': (_: unknown, text: string) => quote(text),
};

/** At most `limit` replacements from the left; below 0: all. */
function replaceSome(text: string, old: string, other: string, limit: bigint): string {
  let left = limit;
  return text.replaceAll(old, (found) => {
    if (left === 0n) return found;
    left -= 1n;
    return other;
  });
}

type Numeric = number | bigint | UnsignedInt;

const ROUNDINGS: Record<string, (value: number) => number> = {
  ceil: Math.ceil,
  floor: Math.floor,
  trunc: Math.trunc,
  /** Halves away from zero, unlike Math.round. */
  round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
};

const MATH: Handlers = {
  ...Object.fromEntries(
    Object.entries(ROUNDINGS).flatMap(([name, round]) => [
      [`Namespace.math.${name}(double): double`, (_: unknown, value: number) => round(value)],
      [`Namespace.math.${name}(int): int`, (_: unknown, value: bigint) => value],
    ]),
  ),
  ...extremes('greatest', 1),
  ...extremes('least', -1),
  'Namespace.math.abs(double): double': (_: unknown, value: number) => Math.abs(value),
  'Namespace.math.abs(int): int': (_: unknown, value: bigint) => (value < 0n ? -value : value),
  'Namespace.math.sign(double): double': (_: unknown, value: number) => Math.sign(value),
  'Namespace.math.sign(int): int': (_: unknown, value: bigint) => (value > 0n ? 1n : value < 0n ? -1n : 0n),
  'Namespace.math.sqrt(double): double': (_: unknown, value: number) => Math.sqrt(value),
  'Namespace.math.sqrt(int): double': (_: unknown, value: bigint) => Math.sqrt(Number(value)),
  'Namespace.math.isNaN(double): bool': (_: unknown, value: number) => Number.isNaN(value),
  'Namespace.math.isInf(double): bool': (_: unknown, value: number) => Math.abs(value) === Infinity,
  'Namespace.math.isFinite(double): bool': (_: unknown, value: number) => Number.isFinite(value),
};

/** cel-js has no variadic functions: up to four numbers, or a list of any size. */
function extremes(name: string, sign: number): Handlers {
  const pick = (values: readonly unknown[]): Numeric => {
    const [first, ...rest] = values.map(numeric);
    if (first === undefined)
      throw new ExpressionError('Type', `math.${name}() requires a list that is not empty`);
    return rest.reduce((best, value) => (compareValues(value, best) * sign > 0 ? value : best), first);
  };
  const numeric = (value: unknown): Numeric => {
    if (typeof value === 'number' || typeof value === 'bigint' || value instanceof UnsignedInt) return value;
    throw new ExpressionError('Type', `math.${name}() requires numbers`);
  };
  const signature = (count: number): string =>
    `Namespace.math.${name}(${Array<string>(count).fill('dyn').join(', ')}): dyn`;
  return {
    [signature(1)]: (_: unknown, value: unknown) => pick(Array.isArray(value) ? value : [value]),
    [signature(2)]: (_: unknown, ...values: unknown[]) => pick(values),
    [signature(3)]: (_: unknown, ...values: unknown[]) => pick(values),
    [signature(4)]: (_: unknown, ...values: unknown[]) => pick(values),
  };
}

const TIMESTAMP = 'google.protobuf.Timestamp';

const TIMES: Handlers = {
  [`string(${TIMESTAMP}): string`]: timestampText,
  'string(google.protobuf.Duration): string': (value: Duration) => value.toString(),
  [`int(${TIMESTAMP}): int`]: (time: Date) => BigInt(Math.floor(time.getTime() / 1_000)),
  [`timestamp(${TIMESTAMP}): ${TIMESTAMP}`]: (time: Date) => time,
  'duration(google.protobuf.Duration): google.protobuf.Duration': (value: Duration) => value,
  [`${TIMESTAMP}.format(string): string`]: (time: Date, pattern: string) => formatTime(time, pattern),
  [`${TIMESTAMP}.format(string, string): string`]: formatTime,
};

const CODECS: Handlers = {
  'Namespace.base64.encode(bytes): string': (_: unknown, bytes: Uint8Array) =>
    btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')),
  'Namespace.base64.decode(string): bytes': (_: unknown, text: string) => decodeBase64(text),
  'Namespace.json.encode(dyn): string': (_: unknown, value: unknown) => JSON.stringify(fromCel(value)),
  'Namespace.json.decode(string): dyn': (_: unknown, text: string) => decodeJson(text),
};

/** Accepts missing padding, and the URL-safe alphabet. */
function decodeBase64(text: string): Uint8Array {
  try {
    const standard = text.replaceAll('-', '+').replaceAll('_', '/');
    return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
  } catch {
    throw new ExpressionError('Type', 'base64.decode() requires text in Base64');
  }
}

function decodeJson(text: string): unknown {
  let value: unknown;
  try {
    value = parseBounded(text);
  } catch {
    throw new ExpressionError(
      'Type',
      'json.decode() requires text that is valid JSON, without numbers beyond the range of a double or with an exponent below -1000',
    );
  }
  return toCel(value);
}

const PATTERNS: Handlers = {
  'Namespace.regex.extract(string, string): optional<string>': (_: unknown, text: string, pattern: string) =>
    Optional.of(extract(text, pattern)),
  'Namespace.regex.extractAll(string, string): list<string>': (_: unknown, text: string, pattern: string) =>
    extractAll(text, pattern),
  'Namespace.regex.replace(string, string, string): string': (
    _: unknown,
    text: string,
    pattern: string,
    replacement: string,
  ) => replaceMatches(text, pattern, replacement),
  'Namespace.regex.replace(string, string, string, int): string': (
    _: unknown,
    text: string,
    pattern: string,
    replacement: string,
    limit: bigint,
  ) => replaceMatches(text, pattern, replacement, Number(limit)),
};

/** `text.matches(pattern)`. */
export function matchesPattern(values: readonly unknown[]): boolean {
  const [text, pattern] = values;
  if (typeof text === 'string' && typeof pattern === 'string') return matches(text, pattern);
  throw new ExpressionError('Type', 'matches() requires a text and a pattern');
}

/**
 * The steps of a call that the width of its operands and its result does not cover. `room` bounds counting.
 */
export function extraPrice(name: string, values: readonly unknown[], room: number): number {
  const price = Object.hasOwn(PRICES, name) ? PRICES[name] : undefined;
  return price ? price(values, room) : 0;
}

type Price = (values: readonly unknown[], room: number) => number;

const deep: Price = (values, room) => values.reduce((sum: number, value) => sum + deepSize(value, room), 0);

const PRICES: Record<string, Price> = {
  sort: ([list], room) => (Array.isArray(list) ? deepSize(list, room) * Math.log2(list.length + 1) : 0),
  distinct: deep,
  flatten: deep,
  format: deep,
  encode: deep,
  // Reading a character of JSON costs more than copying it.
  decode: ([, text]) => (typeof text === 'string' ? text.length / 4 : 0),
  range: ([, size], room) =>
    typeof size === 'bigint' && size <= BigInt(Math.ceil(room)) ? Number(size) : room + 1,
  join: ([list, separator = '']) =>
    Array.isArray(list)
      ? list.reduce((sum: number, text: unknown) => sum + width(text) + width(separator), 0)
      : 0,
  replace: (values) =>
    typeof values[0] === 'string' ? replacePrice(values) : matchPrice(values[1], values[2]),
  matches: ([text, pattern]) => matchPrice(text, pattern),
  extract: ([, text, pattern]) => matchPrice(text, pattern),
  extractAll: ([, text, pattern]) => matchPrice(text, pattern),
};

/** The occurrences, times the width of the replacement. */
function replacePrice([text, old, other]: readonly unknown[]): number {
  if (typeof text !== 'string' || typeof old !== 'string') return 0;
  if (old === '') return (text.length + 1) * (1 + width(other));
  let count = 0;
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) count += 1;
  return count * (1 + width(other));
}
