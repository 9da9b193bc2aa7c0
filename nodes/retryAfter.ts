/** How long another side asks to wait: `Retry-After` (RFC 9110 section 10.2.3), and the variant in milliseconds of model providers. */

const LONGEST_MS = 24 * 3_600_000;

/** Milliseconds to wait, at most a day; undefined when nothing usable was said. */
export function retryAfterMs(headers: Headers | undefined, now: number = Date.now()): number | undefined {
  const milliseconds = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return Math.min(milliseconds, LONGEST_MS);
  const value = headers?.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1_000, LONGEST_MS);
  const date = Date.parse(value);
  // A date counts from that of the answer: the clock of the other side may be another one.
  const said = Date.parse(headers?.get('date') ?? '') || now;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(date - said, 0), LONGEST_MS);
}
