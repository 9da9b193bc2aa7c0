/** Going through keys by their names, for the operator's account alone: no other may SCAN. */
import type { RunStoreConnection } from './connection.ts';

/** Keys looked at by one command. */
const PAGE = 500;

/** Calls `visit` with the names of all keys of a pattern, page by page; one may come twice. */
export async function forEachPage(
  conn: RunStoreConnection,
  pattern: string,
  visit: (names: string[]) => Promise<void>,
): Promise<void> {
  let cursor = '0';
  do {
    const page = await conn.command('scan', cursor, 'match', pattern, 'count', PAGE);
    const [next, names] = page as [string, string[]];
    if (names.length > 0) await visit(names);
    cursor = next;
  } while (cursor !== '0');
}
