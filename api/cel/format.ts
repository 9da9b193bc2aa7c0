/** Texts of CEL values: `string.format` of cel-go, and texts of times. Pure. */
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { ExpressionError } from '../expression/errors.ts';
import { entriesOf } from './size.ts';

const FRACTION_DIGITS = 50;

/**
 * Replaces the verbs of `text`: %s, %d, %f, %e, %b, %o, %x, %X and %%, with a precision as in %.2f.
 * @throws ExpressionError `Type` for an unknown verb, or a value that the verb does not accept
 */
export function formatText(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replaceAll(
    /%(?:\.(\d{1,3}))?(.?)/gs,
    (written, precision: string | undefined, verb: string) => {
      if (written === '%%') return '%';
      const format = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
      if (!format)
        throw new ExpressionError(
          'Type',
          `format() has no %${verb}: use ${Object.keys(VERBS)
            .map((each) => `%${each}`)
            .join(', ')} or %%`,
        );
      if (next >= values.length)
        throw new ExpressionError('Type', `format() has no value for number ${next + 1} of its verbs`);
      const digits = Number(precision ?? 6);
      if (digits > FRACTION_DIGITS)
        throw new ExpressionError(
          'Limit',
          `format() writes at most ${FRACTION_DIGITS} digits after the point`,
        );
      return format(values[next++], digits);
    },
  );
}

type Verb = (value: unknown, digits: number) => string;

const VERBS: Record<string, Verb> = {
  s: toString,
  d: (value) => inexact(value) ?? integer(value, 'd').toString(),
  f: (value, digits) => inexact(value) ?? number(value, 'f').toFixed(digits),
  e: (value, digits) =>
    inexact(value) ??
    number(value, 'e')
      .toExponential(digits)
      .replace(/e([+-])(\d)$/, 'e$10$2'),
  b: (value) => (typeof value === 'boolean' ? String(Number(value)) : integer(value, 'b').toString(2)),
  o: (value) => integer(value, 'o').toString(8),
  x: hexadecimal,
  X: (value) => hexadecimal(value).toUpperCase(),
};

function integer(value: unknown, verb: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof UnsignedInt) return value.value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  throw new ExpressionError('Type', `%${verb} of format() requires an integer`);
}

function number(value: unknown, verb: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof UnsignedInt) return Number(value.value);
  throw new ExpressionError('Type', `%${verb} of format() requires a number`);
}

function inexact(value: unknown): string | undefined {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : undefined;
}

function hexadecimal(value: unknown): string {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return integer(value, 'x').toString(16);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A value as text: a list as `[a, b]`, an object as `{a: 1}`. */
function toString(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(toString).join(', ')}]`;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration || value instanceof UnsignedInt) return value.toString();
  const entries = entriesOf(value);
  if (!entries) return String(value);
  const members = entries.map(([key, member]) => `${toString(key)}: ${toString(member)}`);
  return `{${members.toSorted().join(', ')}}`;
}

/** RFC 3339 in UTC, without a fraction of zero. */
export function timestampText(time: Date): string {
  return time.toISOString().replace(/\.?0*Z$/, 'Z');
}

/** A text in double quotes, with special characters escaped as in CEL. */
export function quote(text: string): string {
  const escaped = text.replaceAll(/[\p{Cc}\\"]/gu, (character) => ESCAPES[character] ?? character);
  return `"${escaped}"`;
}

const ESCAPES: Partial<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
