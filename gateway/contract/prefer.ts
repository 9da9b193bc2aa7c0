/** `Prefer: wait=N` (RFC 7240, section 4.3): how long a caller would wait for the run to end. */

/** The longest wait, in seconds. */
const MAX_WAIT = 300;

/** Seconds, at most 300; undefined if the caller does not want to wait. Preferences that cannot be read are ignored. */
export function preferredWait(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header.join(',') : header;
  for (const preference of (text ?? '').split(',')) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(preference)?.[1];
    if (seconds !== undefined) return Number(seconds) > 0 ? Math.min(Number(seconds), MAX_WAIT) : undefined;
  }
  return undefined;
}
