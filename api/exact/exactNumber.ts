/**
 * Numbers that a double cannot represent. Guarantees: `parseExact` and `JSON.stringify` keep the value of
 * every number of a JSON text, though not always its spelling; no exponent is expanded; time is linear in the
 * text. Numbers that a double represents stay plain numbers, so that data without large numbers costs a scan.
 */

/** The longest accepted number, in characters, and the largest negative exponent. */
export const EXACT_LIMIT = 1_000;

/** Shorter numbers without an exponent have at most 15 significant digits, which a double keeps. */
const LONGEST_PLAIN = 15;
/** Every JSON text with a longer number or an exponent matches, as do some texts without. */
const MAY_HAVE_EXACT = /[\d.]{15}|\d[eE]/;
const GRAMMAR = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * A number as its digits. Immutable. `JSON.stringify` writes the digits, also inside other values; text
 * conversion gives them, too. It is a scalar: code that walks JSON values must not visit its members.
 */
export class ExactNumber {
  readonly text: string;

  /** @throws SyntaxError for a text that is not a JSON number */
  constructor(text: string) {
    if (!GRAMMAR.test(text)) throw new SyntaxError('not a JSON number');
    this.text = text;
    Object.freeze(this);
  }

  toJSON(): unknown {
    return rawJson.rawJSON(this.text);
  }

  toString(): string {
    return this.text;
  }
}

// TypeScript's library does not declare it yet: https://tc39.es/proposal-json-parse-with-source/
const rawJson = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * As `JSON.parse`, except that numbers that a double cannot represent become `ExactNumber`. Use it wherever
 * the data of a run is parsed.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const numbers: string[] = [];
  const marked = markExact(text, numbers);
  const value: unknown = JSON.parse(marked);
  return numbers.length === 0 ? value : unmark(value, numbers);
}

/**
 * As `parseExact`, without numbers that readers cannot write out: see `isBounded`.
 * @throws SyntaxError; RangeError for thousands of levels
 */
export function parseBounded(text: string): unknown {
  const numbers: string[] = [];
  const value: unknown = JSON.parse(markExact(text, numbers));
  if (!numbers.every(isBounded)) throw new SyntaxError('a number is out of range');
  return numbers.length === 0 ? value : unmark(value, numbers);
}

/**
 * Digits that are written out are bounded by their length, and exponents upwards by the range of a double,
 * downwards by `EXACT_LIMIT`.
 */
export function isBounded(text: string): boolean {
  if (text.length > EXACT_LIMIT) return false;
  const [, exponent] = text.split(/e/i);
  return exponent === undefined || (Number.isFinite(Number(text)) && Number(exponent) >= -EXACT_LIMIT);
}

/**
 * The value with each exact number rounded: integers to the nearest safe integer, others to the nearest
 * double. For checks against a schema.
 */
export function rounded(value: unknown): unknown {
  if (value instanceof ExactNumber) {
    const number = nearestDouble(value);
    if (typeof toScriptValue(value) !== 'bigint') return number;
    return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, number));
  }
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  // Checks of schemas read members by name: a missing `constructor` must not be an inherited one.
  const members = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value)) members[key] = rounded(member);
  return members;
}

/** The nearest finite double. */
export function nearestDouble({ text }: ExactNumber): number {
  return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, Number(text)));
}

/** Whether two numbers have the same value, whatever their spelling. */
export function isSameNumber(a: ExactNumber | number | bigint, b: ExactNumber | number | bigint): boolean {
  return identityOfNumber(a) === identityOfNumber(b);
}

/**
 * The same text for every spelling of the value of a number, such as `1.5e400` and `15e399`. An integer that
 * is a double has all its digits, not the shortest ones that give the same double.
 */
export function identityOfNumber(value: ExactNumber | number | bigint): string {
  if (typeof value !== 'number') return canonical(String(value));
  if (Number.isInteger(value)) return canonical(String(BigInt(value)));
  return Number.isFinite(value) ? canonical(String(value)) : String(value);
}

/** An integer as a number if that is exact, else as an `ExactNumber`. */
export function fromBigInt(value: bigint): number | ExactNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new ExactNumber(String(value));
}

/**
 * The number for JavaScript: a `bigint` for an integer that is written without fraction and exponent, else
 * its text.
 */
export function toScriptValue({ text }: ExactNumber): bigint | string {
  return /^-?\d+$/.test(text) ? BigInt(text) : text;
}

/** The exact numbers of an output by JSON pointer (RFC 6901), such as `/data_content/order/id`. */
export type ExactDigits = Record<string, string>;

/**
 * The most characters of JSON pointers that `splitExact` collects. A record has less room, and an output with
 * one long key above many numbers would otherwise need a copy of the key for each of them.
 */
const POINTER_CHARACTERS = 1_048_576;

/**
 * Splits data for the API server, which rounds numbers outside int64 and float64: data without such numbers,
 * and the digits of every exact number. `exact` is left out if there is none. Where its keys are longer than
 * 1 MiB together it is incomplete, and too large for a record.
 */
export function splitExact(data: unknown): { data: unknown; exact?: ExactDigits } {
  const collected = { exact: {}, room: POINTER_CHARACTERS };
  const rest = collect(data, DATA_POINTER, collected);
  const { exact } = collected;
  return Object.keys(exact).length === 0 ? { data } : { data: rest, exact };
}

/**
 * The data with the digits of `exact`. Entries whose pointer does not lead to a number, or whose text is not
 * one, are ignored. Takes time linear in the data and in `exact`.
 */
export function joinExact(data: unknown, exact: ExactDigits | undefined): unknown {
  if (exact === undefined) return data;
  const tree = treeOf(exact).members.get(DATA_POINTER.slice(1));
  return tree ? restore(data, tree) : data;
}

const DATA_POINTER = '/data_content';

function collect(value: unknown, pointer: string, collected: { exact: ExactDigits; room: number }): unknown {
  if (value instanceof ExactNumber) {
    if (collected.room >= 0) collected.exact[pointer] = value.text;
    collected.room -= pointer.length;
    return isInt64(value) ? value : nearestDouble(value);
  }
  return mapMembers(value, (member, key) => {
    const step = typeof key === 'number' ? key : key.replaceAll('~', '~0').replaceAll('/', '~1');
    return collect(member, `${pointer}/${step}`, collected);
  });
}

/** The digits at a place of the data, and below it. */
type DigitsTree = { text?: string; members: Map<string, DigitsTree> };

function treeOf(exact: ExactDigits): DigitsTree {
  const root: DigitsTree = { members: new Map() };
  for (const [pointer, text] of Object.entries(exact)) {
    const [, ...steps] = pointer.split('/');
    let at = root;
    for (const step of steps) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const next = at.members.get(key) ?? { members: new Map<string, DigitsTree>() };
      at.members.set(key, next);
      at = next;
    }
    at.text = text;
  }
  return root;
}

function restore(value: unknown, { text, members }: DigitsTree): unknown {
  if (typeof value === 'number' || value instanceof ExactNumber)
    return text !== undefined && GRAMMAR.test(text) && isBounded(text) ? parseExact(text) : value;
  return mapMembers(value, (member, key) => {
    const below = members.get(String(key));
    return below ? restore(member, below) : member;
  });
}

function mapMembers(value: unknown, map: (member: unknown, key: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member, key)]));
}

function isInt64(number: ExactNumber): boolean {
  if (number.text.length > 20) return false;
  const value = toScriptValue(number);
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value;
}

/**
 * The text with `["\u0001<index>"]` in place of each number that a double cannot represent: a list, because
 * neither a list nor a number is a valid key. A text at the start of a list that begins with U+0001, which
 * JSON spells in one way only, gets a second one.
 */
function markExact(text: string, numbers: string[]): string {
  if (!MAY_HAVE_EXACT.test(text)) return text;
  let marked = '';
  let copied = 0;
  const replace = (from: number, to: number, by: string): void => {
    marked += text.slice(copied, from) + by;
    copied = to;
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      if (text.startsWith(MARK_ESCAPE, at + 1) && isFirstInList(text, at))
        replace(at + 1, at + 1, MARK_ESCAPE);
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      const number = end - at > LONGEST_PLAIN || hasExponent(text, at, end) ? text.slice(at, end) : '';
      if (number !== '' && GRAMMAR.test(number) && !fitsDouble(number)) {
        replace(at, end, `["${MARK_ESCAPE}${numbers.length}"]`);
        numbers.push(number);
      }
      at = end - 1;
    }
  }
  return numbers.length === 0 ? text : marked + text.slice(copied);
}

const MARK = '\u0001';
const MARK_ESCAPE = '\\u0001';

function isFirstInList(text: string, quote: number): boolean {
  let at = quote - 1;
  while (at >= 0 && text.charCodeAt(at) <= SPACE) at -= 1;
  return text.charCodeAt(at) === OPEN_LIST;
}

/** Replaces the marks in the value, in place. */
function unmark(value: unknown, numbers: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const first: unknown = value[0];
    if (typeof first === 'string' && first.startsWith(MARK)) {
      if (!first.startsWith(MARK, 1)) return new ExactNumber(numbers[Number(first.slice(1))] ?? '');
      value[0] = first.slice(1);
    }
    for (let index = 0; index < value.length; index += 1) value[index] = unmark(value[index], numbers);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (typeof member === 'object' && member !== null) define(members, key, unmark(member, numbers));
  }
  return value;
}

/** An assignment to `__proto__` would set the prototype. */
function define(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value;
  else Object.defineProperty(members, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Whether a double has the value of this number. Longer ones than the limit are not compared. */
function fitsDouble(number: string): boolean {
  if (number.length > EXACT_LIMIT) return false;
  const written = String(Number(number));
  return written === number || canonical(written) === canonical(number);
}

/** The same text for every spelling of a value: sign, digits without zeros at both ends, exponent. */
function canonical(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = whole + fraction;
  const start = firstNonZero(digits);
  if (start === digits.length) return '0';
  const end = lastNonZero(digits) + 1;
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - end);
  return `${sign}${digits.slice(start, end)}e${power}`;
}

function firstNonZero(digits: string): number {
  let at = 0;
  while (digits.charCodeAt(at) === ZERO) at += 1;
  return at;
}

function lastNonZero(digits: string): number {
  let at = digits.length - 1;
  while (digits.charCodeAt(at) === ZERO) at -= 1;
  return at;
}

/** The index of the closing quote, or the length of the text if the string is not closed. */
export function endOfString(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1;
  return at;
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if ((text.charCodeAt(at) | 0x20) === LOWER_E) return true;
  return false;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === POINT || (code | 0x20) === LOWER_E || code === PLUS || code === MINUS;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
