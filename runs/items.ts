/**
 * Reads the items of loops and the calls of agents of a run in flight. Claims, takeovers and recorders never
 * read them: only the runner that continues the run does, page by page.
 */
import { parseExact } from '../api/exact/exactNumber.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf } from '../store/keys.ts';
import type { ClaimRef } from './types/claim.ts';
import type { NodeState } from './types/node.ts';

const PAGE = 500;

/** The stored items of the run and their nodes, by key. */
export function readItems(
  conn: RunStoreConnection,
  { project, run }: Pick<ClaimRef, 'project' | 'run'>,
): Promise<Map<string, NodeState> | Unavailable> {
  return orUnavailable(() => readItemsOf(conn, keysOf(project).items(run)));
}

/** The stored calls of agents of the run, by key. */
export function readCalls(
  conn: RunStoreConnection,
  { project, run }: Pick<ClaimRef, 'project' | 'run'>,
): Promise<Map<string, string> | Unavailable> {
  return orUnavailable(() => fieldsOf(conn, keysOf(project).calls(run)));
}

/** The items stored in this hash. Throws as the connection does. */
export async function readItemsOf(conn: RunStoreConnection, key: string): Promise<Map<string, NodeState>> {
  const fields = await fieldsOf(conn, key);
  const items = new Map<string, NodeState>();
  for (const [field, text] of fields) {
    if (field.startsWith('w:')) continue;
    const node = parseExact(text) as NodeState;
    const at = fields.get(`w:${field}`);
    const isInProgress = node.phase === 'Waiting' || node.phase === 'Running';
    items.set(field, isInProgress && at !== undefined ? { ...node, nextAttemptAt: Number(at) } : node);
  }
  return items;
}

/** The fields of a hash, page by page. */
async function fieldsOf(conn: RunStoreConnection, key: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  let cursor = '0';
  do {
    const [next, page] = (await conn.command('hscan', key, cursor, 'count', PAGE)) as [string, string[]];
    for (let at = 0; at < page.length; at += 2) fields.set(page[at] ?? '', page[at + 1] ?? '');
    cursor = next;
  } while (cursor !== '0');
  return fields;
}
