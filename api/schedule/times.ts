/**
 * The next time of a CronJob, computed as its controller does, also around clock changes: a local time that
 * does not exist is skipped, and one that occurs twice fires twice. cron-parser parses the fields; the search
 * follows that of the controller (SpecSchedule.Next of github.com/robfig/cron v3), which is the authority.
 */
import { CronExpressionParser } from 'cron-parser';
import { createZone, type LocalTime, type Zone } from './zone.ts';

export type Schedule = {
  /**
   * The first time after this one (both in milliseconds since 1970); undefined if there is none within five
   * years.
   */
  next(after: number): number | undefined;
};

type Sets = {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  months: ReadonlySet<number>;
  isDay(time: LocalTime): boolean;
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const YEARS = 5;

/**
 * Parses five cron fields and an IANA time zone.
 * @throws Error with a message for the author of the workflow
 */
export function parseSchedule(cron: string, timeZone: string): Schedule {
  const sets = setsOf(cron);
  const zone = createZone(timeZone);
  return { next: (after) => walk(sets, zone, after) };
}

const FIELDS = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;
type Field = (typeof FIELDS)[number];
const LARGEST: Record<Field, number> = { minute: 59, hour: 23, dayOfMonth: 31, month: 12, dayOfWeek: 6 };

function setsOf(cron: string): Sets {
  const texts = cron.trim().split(/ +/);
  const of = (field: Field): ReadonlySet<number> => values(field, texts[FIELDS.indexOf(field)] ?? '');
  const days = of('dayOfMonth');
  const weekdays = of('dayOfWeek');
  // If both are restricted, one match is enough.
  const isEither = !isStar(texts[2] ?? '') && !isStar(texts[4] ?? '');
  return {
    minutes: of('minute'),
    hours: of('hour'),
    months: of('month'),
    isDay: ({ day, weekday }) =>
      isEither ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday),
  };
}

/**
 * Parses item by item, because cron-parser refuses duplicate values. `5/10` extends to the largest value, as
 * in the controller.
 */
function values(field: Field, text: string): ReadonlySet<number> {
  return new Set(
    text.split(',').flatMap((item) => {
      if (isBackwards(item)) throw new Error(`the range ${item} is reversed: write two ranges with a comma`);
      const whole = item.replace(/^(\w+)(?=\/)/, `$1-${LARGEST[field]}`);
      const fields = FIELDS.map((each) => (each === field ? whole : '*')).join(' ');
      return CronExpressionParser.parse(fields).fields[field].values.map(Number);
    }),
  );
}

/** Whether a field matches every value; `*` with a step does not. */
function isStar(field: string): boolean {
  return field.split(',').some((item) => /^[*?](\/1)?$/.test(item));
}

const NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

function isBackwards(item: string): boolean {
  const [from, to] = (item.split('/')[0] ?? '').split('-');
  if (from === undefined || to === undefined) return false;
  return numberOf(from) > numberOf(to);
}

function numberOf(text: string): number {
  const name = text.toLowerCase();
  const index = Math.max(NAMES.indexOf(name), MONTHS.indexOf(name));
  return index === -1 ? Number(text) : index;
}

/**
 * Advances the time by one unit of each field until the field matches. The first field that advances sets all
 * smaller units to their minimum. When a larger unit rolls over, the search starts again from the month.
 */
function walk(sets: Sets, zone: Zone, after: number): number | undefined {
  let time = (Math.floor(after / SECOND) + 1) * SECOND;
  let local = zone.local(time);
  let isMoved = false;
  const last = local.year + YEARS;
  const set = (to: number): void => {
    time = to;
    local = zone.local(time);
  };
  const settle = (to: () => number): void => {
    if (!isMoved) set(to());
    isMoved = true;
  };

  const month = (): boolean => {
    while (!sets.months.has(local.month)) {
      settle(() => zone.at({ ...local, day: 1, hour: 0, minute: 0, second: 0 }));
      set(zone.at({ ...local, month: local.month + 1 }));
      if (local.month === 1) return false;
    }
    return true;
  };
  const day = (): boolean => {
    while (!sets.isDay(local)) {
      settle(() => zone.at({ ...local, hour: 0, minute: 0, second: 0 }));
      set(zone.at({ ...local, day: local.day + 1 }));
      // Midnight may not exist, or come twice.
      if (local.hour > 12) set(time + (24 - local.hour) * HOUR);
      else if (local.hour > 0) set(time - local.hour * HOUR);
      if (local.day === 1) return false;
    }
    return true;
  };
  const hour = (): boolean => {
    while (!sets.hours.has(local.hour)) {
      settle(() => zone.at({ ...local, minute: 0, second: 0 }));
      set(time + HOUR);
      if (local.hour === 0) return false;
    }
    return true;
  };
  const minute = (): boolean => {
    while (!sets.minutes.has(local.minute)) {
      settle(() => Math.floor(time / MINUTE) * MINUTE);
      set(time + MINUTE);
      if (local.minute === 0) return false;
    }
    return true;
  };
  const second = (): boolean => {
    if (local.second === 0) return true;
    isMoved = true;
    set(time + (60 - local.second) * SECOND);
    return false;
  };
  while (local.year <= last) if (month() && day() && hour() && minute() && second()) return time;
  return undefined;
}
