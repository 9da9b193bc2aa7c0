/** Scans keys by name. Only the operator's account may SCAN. */
import type { RunStoreConnection } from './connection.ts';
import { projectOfKey } from './keys.ts';

/** Keys that one command scans. */
const PAGE = 500;

/** The position of a scan: at which server, and where there. A later call can continue there. */
export type Scan = { server: string; cursor: string };

/** A scan from the start. */
export const newScan = (): Scan => ({ server: '', cursor: '0' });

/**
 * Calls `visit` with the names of all keys of a pattern, page by page, of one server after the other; a name
 * may come twice. If it throws, another call with the same `scan` repeats that page. If a server restarts
 * meanwhile, or slots move, keys may be left out.
 */
export async function forEachPage(
  conn: RunStoreConnection,
  pattern: string,
  visit: (names: string[]) => Promise<void>,
  scan: Scan = newScan(),
): Promise<void> {
  const project = projectOfKey(pattern);
  const servers = project === undefined ? await conn.primaries() : [{ name: '', ...conn.serverOf(project) }];
  for (const { name, command } of servers) {
    if (name < scan.server) continue;
    if (name > scan.server) Object.assign(scan, { server: name, cursor: '0' });
    do {
      const page = await command('scan', scan.cursor, 'match', pattern, 'count', PAGE);
      const [next, names] = page as [string, string[]];
      if (names.length > 0) await visit(names);
      scan.cursor = next;
    } while (scan.cursor !== '0');
  }
  scan.server = '';
}
