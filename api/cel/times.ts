/** The range of times, and `timestamp.format`, which code has as `formatDate`. Pure. */
import { ExpressionError } from '../expression/errors.ts';
import { createZone, type LocalTime } from '../schedule/zone.ts';

const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether the year is from 1 to 9999, as in cel-go. */
export function isTime(time: Date): boolean {
  return time.getTime() >= FIRST_MS && time.getTime() <= LAST_MS;
}

/**
 * Whether a text that begins with a date names a day of the calendar and an hour below 24: a `Date` would
 * take a day of the next month. True for other texts.
 */
function isDateOfCalendar(text: string): boolean {
  const [, date = '', hour = '0'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d))?/i.exec(text) ?? [];
  if (date === '') return true;
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date) && Number(hour) < 24;
}

/** RFC 3339, section 5.6. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** The time of a text in RFC 3339, in milliseconds since 1970; undefined if the text is not a valid one. */
export function parseRfc3339(text: string): number | undefined {
  const time = RFC_3339.test(text) && isDateOfCalendar(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Checks what `isDateOfCalendar` says of a text.
 * @throws ExpressionError `Type`
 */
export function assertDate(text: unknown): void {
  if (typeof text !== 'string' || isDateOfCalendar(text)) return;
  throw new ExpressionError(
    'Type',
    'timestamp() requires a date of the calendar and an hour below 24, as in 2026-02-28T10:00:00Z',
  );
}

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
