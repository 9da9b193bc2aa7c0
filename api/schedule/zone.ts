/** Converts between time and local time of an IANA time zone, as Go's time package does. */

/** `month` from 1, `weekday` from 0 (Sunday). */
export type LocalTime = {
  year: number;
  month: number;
  day: number;
  weekday: number;
  hour: number;
  minute: number;
  second: number;
};

export type Zone = {
  /** The local time at a time in milliseconds since 1970. */
  local(time: number): LocalTime;
  /**
   * The time of a local time. Months and days overflow into the next. A local time that does not exist gives
   * a time near it.
   */
  at(local: Omit<LocalTime, 'weekday'>): number;
};

/** Throws an Error for an unknown time zone. */
export function createZone(name: string): Zone {
  const format = formatOf(name);
  const wall = (time: number): number => {
    const parts = Object.fromEntries(
      format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const offset = (time: number): number => wall(time) - Math.floor(time / 1_000) * 1_000;
  return {
    local: (time) => {
      const shown = new Date(wall(time));
      return {
        year: shown.getUTCFullYear(),
        month: shown.getUTCMonth() + 1,
        day: shown.getUTCDate(),
        weekday: shown.getUTCDay(),
        hour: shown.getUTCHours(),
        minute: shown.getUTCMinutes(),
        second: shown.getUTCSeconds(),
      };
    },
    at: ({ year, month, day, hour, minute, second }) => {
      const shown = Date.UTC(year, month - 1, day, hour, minute, second);
      return shown - offset(shown - offset(shown));
    },
  };
}

/** A time as RFC 3339 in the time zone, to the second: 2026-05-01T10:00:00+02:00. Throws as `createZone`. */
export function localTimeOf(time: number, timeZone: string): string {
  if (timeZone === 'UTC') return `${new Date(time).toISOString().slice(0, 19)}Z`;
  const { year, month, day, hour, minute, second } = createZone(timeZone).local(time);
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  const offset = Math.round((shown - Math.floor(time / 1_000) * 1_000) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${new Date(shown).toISOString().slice(0, 19)}${offset === 0 ? 'Z' : zone}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    requireName(timeZone, format.resolvedOptions().timeZone);
    formats.set(timeZone, format);
    return format;
  } catch (cause) {
    const message = `unknown time zone ${timeZone}: use an IANA name such as Europe/Berlin, or leave it out for UTC`;
    throw new Error(message, { cause });
  }
}

/** A CronJob accepts neither offsets such as +01:00 nor names in another case. */
function requireName(given: string, resolved: string): void {
  const isOtherCase = given !== resolved && given.toLowerCase() === resolved.toLowerCase();
  if (isOtherCase || !/^[A-Z]/.test(given)) throw new Error(`not the name of a time zone: ${given}`);
}
