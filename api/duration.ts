/** Durations as manifests write them (`90s`, `1h30m`, `250ms`), in milliseconds inside. */
import * as z from 'zod';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$';

/** The milliseconds of a duration such as `1h30m`. Throws a RangeError for a text that is none. */
export function parseDuration(text: string): number {
  if (!new RegExp(DURATION_PATTERN).test(text))
    throw new RangeError(`"${text}" is no duration; write it like 30s, 5m or 1h30m`);
  let total = 0;
  for (const [, count, unit] of text.matchAll(PART)) total += Number(count) * (UNIT_MS[unit ?? ''] ?? 0);
  return total;
}

/** A duration field. */
export const duration = (description: string) =>
  z.string().max(32).regex(new RegExp(DURATION_PATTERN)).describe(description);
