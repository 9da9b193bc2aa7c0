/**
 * Parses how long a server asks to wait: `Retry-After` (RFC 9110 section 10.2.3) and its variant in
 * milliseconds.
 */

const LONGEST_MS = 24 * 3_600_000;

/**
 * Milliseconds to wait, at most a day; undefined without a usable value. The names of `headers` are in lower
 * case.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | undefined>>,
  now: number = Date.now(),
): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return Math.min(milliseconds, LONGEST_MS);
  const value = headers['retry-after']?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1_000, LONGEST_MS);
  const date = Date.parse(value);
  // A date is relative to the server's clock, which may differ from ours.
  const serverNow = Date.parse(headers['date'] ?? '') || now;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(date - serverNow, 0), LONGEST_MS);
}
