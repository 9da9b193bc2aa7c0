/** Going through keys by their names, for the operator's account alone: no other may SCAN. */
import type { RunStoreConnection } from './connection.ts';

/** Keys looked at by one command. */
const PAGE = 500;

/** How far a scan is. Whoever keeps it goes on there after a break. */
export type Scan = { cursor: string };

/** A scan that begins. */
export const newScan = (): Scan => ({ cursor: '0' });

/**
 * Calls `visit` with the names of all keys of a pattern, page by page; one may come twice. Where it throws, the same `scan` goes on with
 * the page that was not visited to its end. After a restart of the server meanwhile keys may be left out.
 */
export async function forEachPage(
  conn: RunStoreConnection,
  pattern: string,
  visit: (names: string[]) => Promise<void>,
  scan: Scan = newScan(),
): Promise<void> {
  do {
    const page = await conn.command('scan', scan.cursor, 'match', pattern, 'count', PAGE);
    const [next, names] = page as [string, string[]];
    if (names.length > 0) await visit(names);
    scan.cursor = next;
  } while (scan.cursor !== '0');
}
