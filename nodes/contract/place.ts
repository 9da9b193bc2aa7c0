/** Identifies what a polled trigger watches: a cursor of one place is void in another. */
import { createHash } from 'node:crypto';

/** The place with these parts, such as server, account and folder. It shows none of them. */
export function placeHash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
