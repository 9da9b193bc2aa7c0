/** Scans keys by name. Only the operator's account may SCAN. */
import type { RunStoreConnection } from './connection.ts';

/** Keys that one command scans. */
const PAGE = 500;

/** The position of a scan. A later call can continue there. */
export type Scan = { cursor: string };

/** A scan from the start. */
export const newScan = (): Scan => ({ cursor: '0' });

/**
 * Calls `visit` with the names of all keys of a pattern, page by page; a name may come twice. If it throws,
 * another call with the same `scan` repeats that page. If the server restarts meanwhile, keys may be left
 * out.
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
