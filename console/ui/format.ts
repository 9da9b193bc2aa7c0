/** Formats times, durations and numbers in English. */

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** Created once: construction is slow, and lists format thousands of times. */
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const short = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** "3 minutes ago", "in 2 hours", "just now". Times are RFC 3339 or milliseconds. */
export function ago(time: string | number, now: number): string {
  const at = typeof time === 'number' ? time : Date.parse(time);
  const seconds = Math.round((at - now) / 1_000);
  if (Math.abs(seconds) < 5) return 'just now';
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** The full time: 22 Nov 2026, 14:05:09. */
export function fullTime(time: string | number): string {
  return full.format(new Date(time));
}

/** How many of several are shown: 27 runs, 3 of 27 runs. */
export function countShown(shown: number, all: number, one: string): string {
  return shown === all ? count(all, one) : `${shown.toLocaleString('en')} of ${count(all, one)}`;
}

/** The time without the year, for titles: 22 Nov, 14:05:09. */
export function shortTime(time: string | number): string {
  return short.format(new Date(time));
}

/** A duration: 840 ms, 3.2 s, 4 min 5 s, 2 h 3 min. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const numbers = new Intl.NumberFormat('en');

/** "1,204". */
export function number(value: number): string {
  return numbers.format(value);
}

/** "1 run", "1,204 runs". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** The text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The label within a sentence: "time zone" of "Time zone"; "URL" stays as it is. */
export function uncapitalized(label: string): string {
  return /^[A-Z](?![A-Z])/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

/** The runs that a suspension pauses: "12 runs are paused; they start or continue when you resume." */
export function waitingText(waiting: number): string {
  if (waiting === 0) return 'No runs are paused.';
  const they = waiting === 1 ? 'it starts or continues' : 'they start or continue';
  return `${count(waiting, 'run is', 'runs are')} paused; ${they} when you resume.`;
}
