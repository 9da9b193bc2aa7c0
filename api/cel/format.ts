/** Texts of CEL values: `string.format` of cel-go, texts of times, and `timestamp.format`. Pure. */
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { ExpressionError } from '../expression/errors.ts';
import { createZone, type LocalTime } from '../schedule/zone.ts';
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

const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether the year is from 1 to 9999, as in cel-go. */
export function isTime(time: Date): boolean {
  return time.getTime() >= FIRST_MS && time.getTime() <= LAST_MS;
}

/**
 * Checks that a text which begins with a date names a day of the calendar: a `Date` would take a day of the
 * next month.
 * @throws ExpressionError `Type`
 */
export function assertDate(text: unknown): void {
  if (typeof text !== 'string') return;
  const [, date = '', hour = '0'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d))?/i.exec(text) ?? [];
  if (date === '') return;
  const day = new Date(`${date}T00:00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
  if (isDay && Number(hour) < 24) return;
  throw new ExpressionError(
    'Type',
    'timestamp() requires a date of the calendar and an hour below 24, as in 2026-02-28T10:00:00Z',
  );
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

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/**
 * A time in a time zone, as a pattern of Unicode (UTS 35) describes it: yyyy, yy, MMMM, MMM, MM, M, dd, d,
 * EEEE, EEE, HH, H, hh, h, a, mm, ss, SSS, XXX; text in single quotes. Names are English.
 * @throws ExpressionError `Type` for an unknown letter or time zone
 */
export function formatTime(time: Date, pattern: string, timeZone = 'UTC'): string {
  const local = inZone(time, timeZone);
  return pattern.replaceAll(/'((?:[^']|'')*)'|([A-Za-z])\2*/g, (written, text: string | undefined) => {
    if (text !== undefined) return text === '' ? "'" : text.replaceAll("''", "'");
    const field = Object.hasOwn(FIELDS, written) ? FIELDS[written] : undefined;
    if (field) return field(local);
    const fields = Object.keys(FIELDS).join(', ');
    throw new ExpressionError(
      'Type',
      `format() of a timestamp has no ${written}: use ${fields}, or text in single quotes`,
    );
  });
}

/** The fields of a local time, as those of a Date in UTC. */
type Local = { date: Date; offsetMinutes: number };

const padded = (value: number, length = 2): string => String(value).padStart(length, '0');
const clock = (hours: number): number => hours % 12 || 12;

const FIELDS: Record<string, (local: Local) => string> = {
  yyyy: ({ date }) => padded(date.getUTCFullYear(), 4),
  yy: ({ date }) => padded(date.getUTCFullYear() % 100),
  MMMM: ({ date }) => MONTHS[date.getUTCMonth()] ?? '',
  MMM: ({ date }) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  MM: ({ date }) => padded(date.getUTCMonth() + 1),
  M: ({ date }) => String(date.getUTCMonth() + 1),
  dd: ({ date }) => padded(date.getUTCDate()),
  d: ({ date }) => String(date.getUTCDate()),
  EEEE: ({ date }) => DAYS[date.getUTCDay()] ?? '',
  EEE: ({ date }) => (DAYS[date.getUTCDay()] ?? '').slice(0, 3),
  HH: ({ date }) => padded(date.getUTCHours()),
  H: ({ date }) => String(date.getUTCHours()),
  hh: ({ date }) => padded(clock(date.getUTCHours())),
  h: ({ date }) => String(clock(date.getUTCHours())),
  a: ({ date }) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  mm: ({ date }) => padded(date.getUTCMinutes()),
  ss: ({ date }) => padded(date.getUTCSeconds()),
  SSS: ({ date }) => padded(date.getUTCMilliseconds(), 3),
  XXX: ({ offsetMinutes }) => offsetText(offsetMinutes),
};

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z';
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${padded(Math.floor(size / 60))}:${padded(size % 60)}`;
}

function inZone(time: Date, timeZone: string): Local {
  const { year, month, day, hour, minute, second } = localTime(time, timeZone);
  const milliseconds = ((time.getTime() % 1_000) + 1_000) % 1_000;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds));
  return { date, offsetMinutes: Math.round((date.getTime() - time.getTime()) / 60_000) };
}

function localTime(time: Date, timeZone: string): LocalTime {
  try {
    return createZone(timeZone).local(time.getTime());
  } catch {
    throw new ExpressionError('Type', 'format() of a timestamp requires a time zone such as Europe/Berlin');
  }
}
