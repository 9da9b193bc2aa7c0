/** The part of Luxon that expressions of n8n use, on top of `formatDate` of code nodes. */
import type { ShimPart } from './part.ts';

export const CALENDAR: readonly ShimPart[] = [
  {
    name: 'DateTime',
    needs: /\bDateTime\b|\$now\b|\$today\b|\.toDateTime\(/,
    source: `const UNITS = { week: 604800000, day: 86400000, hour: 3600000, minute: 60000, second: 1000, millisecond: 1 };
const unitOf = (name) => String(name).replace(/s$/, '');
class DateTime {
  constructor(ms, zone) {
    this.ms = ms;
    this.zone = zone ?? run.timeZone ?? 'UTC';
  }
  static now() { return new DateTime(Date.now()); }
  static local() { return DateTime.now(); }
  static utc() { return new DateTime(Date.now(), 'UTC'); }
  static fromMillis(ms) { return new DateTime(ms); }
  static fromSeconds(seconds) { return new DateTime(seconds * 1000); }
  static fromJSDate(date) { return new DateTime(date.getTime()); }
  static fromISO(text, options = {}) {
    const hasZone = /(?:Z|[+-]\\d\\d:?\\d\\d)$/.test(text) ;
    const date = new DateTime(Date.parse(hasZone || !/T/.test(text) ? text : text + 'Z'), options.zone);
    return hasZone ? date : date.shifted(date.ms);
  }
  static fromObject({ year, month = 1, day = 1, hour = 0, minute = 0, second = 0 }) {
    return new DateTime(0).shifted(Date.UTC(year, month - 1, day, hour, minute, second));
  }
  // The time that the calendar of the zone shows, as if it were UTC.
  get wall() { return Date.parse(formatDate(this.ms, "yyyy-MM-dd'T'HH:mm:ss", this.zone) + 'Z') + (((this.ms % 1000) + 1000) % 1000); }
  shifted(wall) {
    const guess = new DateTime(wall, this.zone);
    return new DateTime(wall - (guess.wall - wall), this.zone);
  }
  get fields() { return new Date(this.wall); }
  get year() { return this.fields.getUTCFullYear(); }
  get month() { return this.fields.getUTCMonth() + 1; }
  get day() { return this.fields.getUTCDate(); }
  get hour() { return this.fields.getUTCHours(); }
  get minute() { return this.fields.getUTCMinutes(); }
  get second() { return this.fields.getUTCSeconds(); }
  get millisecond() { return this.fields.getUTCMilliseconds(); }
  get weekday() { return this.fields.getUTCDay() || 7; }
  get weekNumber() {
    const day = new Date(this.wall);
    day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
    return Math.ceil(((day.getTime() - Date.UTC(day.getUTCFullYear(), 0, 1)) / 86400000 + 1) / 7);
  }
  get monthLong() { return this.toFormat('MMMM'); }
  get weekdayLong() { return this.toFormat('EEEE'); }
  get isValid() { return !Number.isNaN(this.ms); }
  toFormat(pattern) { return formatDate(this.ms, pattern.replaceAll('cccc', 'EEEE').replaceAll('ccc', 'EEE').replaceAll('LL', 'MM'), this.zone); }
  format(pattern) { return this.toFormat(pattern); }
  toISO() { return formatDate(this.ms, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", this.zone); }
  toISODate() { return this.toFormat('yyyy-MM-dd'); }
  toISOTime() { return this.toFormat('HH:mm:ss.SSSXXX'); }
  toString() { return this.toISO(); }
  toJSON() { return this.toISO(); }
  toJSDate() { return new Date(this.ms); }
  toMillis() { return this.ms; }
  toSeconds() { return this.ms / 1000; }
  toUnixInteger() { return Math.floor(this.ms / 1000); }
  valueOf() { return this.ms; }
  setZone(zone) { return new DateTime(this.ms, zone === 'local' ? undefined : zone); }
  toUTC() { return this.setZone('UTC'); }
  toLocal() { return this.setZone('local'); }
  setLocale() { return this; }
  set(values) {
    const { year, month, day, hour, minute, second, millisecond } = { year: this.year, month: this.month, day: this.day, hour: this.hour, minute: this.minute, second: this.second, millisecond: this.millisecond, ...values };
    return this.shifted(Date.UTC(year, month - 1, day, hour, minute, second, millisecond));
  }
  plus(amount, unit) { return this.moved(typeof amount === 'object' ? amount : { [unit ?? 'milliseconds']: amount }, 1); }
  minus(amount, unit) { return this.moved(typeof amount === 'object' ? amount : { [unit ?? 'milliseconds']: amount }, -1); }
  moved(amounts, sign) {
    const date = new Date(this.wall);
    let exact = 0;
    for (const [name, amount] of Object.entries(amounts)) {
      const unit = unitOf(name);
      if (unit === 'year' || unit === 'quarter' || unit === 'month') {
        const day = date.getUTCDate();
        date.setUTCDate(1);
        date.setUTCMonth(date.getUTCMonth() + sign * amount * { year: 12, quarter: 3, month: 1 }[unit]);
        date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()));
      } else if (unit === 'week' || unit === 'day') date.setTime(date.getTime() + sign * amount * UNITS[unit]);
      else exact += sign * amount * UNITS[unit];
    }
    return new DateTime(this.shifted(date.getTime()).ms + exact, this.zone);
  }
  startOf(unit) {
    const { year, month, day, hour, minute, second } = this;
    const name = unitOf(unit);
    if (name === 'week') return this.minus({ days: this.weekday - 1 }).startOf('day');
    const kept = ['year', 'month', 'day', 'hour', 'minute', 'second'].indexOf(name === 'quarter' ? 'month' : name);
    const first = name === 'quarter' ? month - ((month - 1) % 3) : month;
    const values = [year, first, day, hour, minute, second].map((value, at) => (at <= kept ? value : at < 3 ? 1 : 0));
    return this.shifted(Date.UTC(values[0], values[1] - 1, ...values.slice(2)));
  }
  beginningOf(unit) { return this.startOf(unit); }
  endOf(unit) { return this.startOf(unit).plus({ [unitOf(unit)]: 1 }).minus({ milliseconds: 1 }); }
  endOfMonth() { return this.endOf('month'); }
  diff(other, units = 'milliseconds') {
    const ms = this.ms - other.valueOf();
    const names = [units].flat();
    const result = { milliseconds: ms, toObject() { return Object.fromEntries(names.map((name) => [name, result[name]])); }, as: (name) => result[unitOf(name) + 's'], valueOf: () => ms };
    for (const [name, length] of Object.entries(UNITS)) result[name + 's'] = ms / length;
    result.months = (this.year - other.year) * 12 + this.month - other.month + (this.day - other.day) / 30;
    result.years = result.months / 12;
    return result;
  }
  diffTo(other, unit = 'days') { return new DateTime(other.valueOf()).diff(this, unit)[unitOf(unit) + 's']; }
  diffToNow(unit = 'days') { return this.diff(DateTime.now(), unit); }
  isBetween(one, other) { return this.ms > Math.min(one.valueOf(), other.valueOf()) && this.ms < Math.max(one.valueOf(), other.valueOf()); }
  hasSame(other, unit) { return this.startOf(unit).ms === other.startOf(unit).ms; }
}
const $now = DateTime.now();
const $today = $now.startOf('day');`,
  },
  {
    name: 'scheduleItem',
    needs: /\bscheduleItem\(/,
    uses: ['DateTime'],
    source: `const scheduleItem = (text) => {
  const at = DateTime.fromISO(text);
  const day = at.day;
  const ending = day % 10 === 1 && day !== 11 ? 'st' : day % 10 === 2 && day !== 12 ? 'nd' : day % 10 === 3 && day !== 13 ? 'rd' : 'th';
  const time = at.toFormat('h:mm:ss a').toLowerCase();
  return {
    timestamp: text, 'Readable date': at.toFormat('MMMM') + ' ' + day + ending + ' ' + at.year + ', ' + time, 'Readable time': time,
    'Day of week': at.toFormat('EEEE'), Year: String(at.year), Month: at.toFormat('MMMM'), 'Day of month': at.toFormat('dd'), Hour: at.toFormat('HH'),
    Minute: at.toFormat('mm'), Second: at.toFormat('ss'), Timezone: at.zone + ' (UTC' + at.toFormat('XXX') + ')',
  };
};`,
  },
];
