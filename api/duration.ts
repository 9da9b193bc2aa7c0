/**
 * Durations as manifests write them (`90s`, `1h30m`, `250ms`), in milliseconds inside, and the bounds of each
 * field.
 */

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** The pattern of durations. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$';
const DURATION = new RegExp(DURATION_PATTERN);
const FORM = 'written as a number and a unit (ms, s, m, h, d), such as 30s, 5m or 1h30m';

/** The shortest and the longest duration of a field. `hasZero`: 0s as well, which means something else. */
export type DurationBounds = { readonly least: string; readonly most: string; readonly hasZero?: true };

/** The bounds of all fields that hold durations. */
export const DURATION_BOUNDS = {
  replyTimeout: { least: '1s', most: '5m' },
  tolerance: { least: '1s', most: '1d' },
  // Timers of Node.js are limited to 24.8 days.
  stepTimeout: { least: '1ms', most: '24d' },
  backoff: { least: '0s', most: '24d' },
  wait: { least: '0s', most: '90d' },
  callback: { least: '1s', most: '90d' },
  itemDelay: { least: '0s', most: '90d' },
  memory: { least: '1m', most: '90d' },
  codeTimeout: { least: '10ms', most: '60s' },
  runTimeout: { least: '1s', most: '365d' },
  // A runner takes seconds to start, and the operator reads the work of a project every five.
  sleepAfter: { least: '30s', most: '30d', hasZero: true },
  history: { least: '0s', most: '3650d' },
  // Its URL may be public.
  listenFor: { least: '5s', most: '10m' },
} as const satisfies Record<string, DurationBounds>;

/** The milliseconds of a duration such as `1h30m`. Throws a RangeError for an invalid text. */
export function parseDuration(text: string): number {
  if (!DURATION.test(text))
    throw new RangeError(`"${text}" is not a duration: write it like 30s, 5m or 1h30m`);
  let total = 0;
  for (const [, count, unit] of text.matchAll(PART)) total += Number(count) * (UNIT_MS[unit ?? ''] ?? 0);
  return total;
}

/**
 * The milliseconds of a duration, limited to its bounds: objects from before the bounds were enforced may
 * exceed them. Throws a RangeError for an invalid text.
 */
export function boundedDuration(text: string, bounds: DurationBounds): number {
  const ms = parseDuration(text);
  if (ms === 0 && bounds.hasZero) return 0;
  return Math.min(Math.max(ms, parseDuration(bounds.least)), parseDuration(bounds.most));
}

/** Why a text is not a valid duration of a field; undefined for a valid one. */
export function durationProblem(text: string, bounds: DurationBounds): string | undefined {
  try {
    if (parseDuration(text) === boundedDuration(text, bounds)) return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return durationRule(bounds);
}

/** The message about the valid durations of a field. */
export function durationRule(bounds: DurationBounds): string {
  return `must be ${bounds.hasZero ? '0s, or ' : ''}a duration from ${bounds.least} to ${bounds.most}, ${FORM}`;
}
