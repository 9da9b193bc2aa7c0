/** Reads the keys of Windlass in all servers of a store, page by page. */
import { projectOfKey, type ProjectUid } from '../keys.ts';
import { isMark, type CopyPosition } from './marks.ts';
import { valueOf, type MoveServer, type MoveServers } from './servers.ts';

/** The keys of a page, about. */
const SCAN_COUNT = 512;
/** Stands for the project of keys that belong to none, such as sessions of the console. */
export const NO_PROJECT = '-';

/** The project of a key; `NO_PROJECT` if it belongs to none. */
export function projectOf(key: Buffer): ProjectUid {
  const project = projectOfKey(key.toString('latin1'));
  return project !== undefined && /^[A-Za-z0-9-]{1,64}$/.test(project) ? project : NO_PROJECT;
}

export type KeyPage = {
  server: MoveServer;
  keys: Buffer[];
  /** Where to continue after this page; `0`: it is the last page of the server. */
  cursor: string;
};

/**
 * All pages after the position `from`. A key may be in several pages. No key is missing that existed all the
 * time.
 */
export async function* pagesOf(
  store: MoveServers,
  from?: Pick<CopyPosition, 'server' | 'cursor'>,
): AsyncGenerator<KeyPage> {
  for (const server of store.all) {
    if (from && server.name < from.server) continue;
    let cursor = from?.server === server.name ? from.cursor : '0';
    // All pages of this server were read.
    if (from?.server === server.name && cursor === '0') continue;
    do {
      const [answer] = await server.ask([['scan', cursor, 'match', 'wl:*', 'count', SCAN_COUNT]]);
      const [next, names] = valueOf(answer) as [Buffer, Buffer[]];
      cursor = next.toString();
      yield { server, keys: names.filter((key) => !isMark(key)), cursor };
    } while (cursor !== '0');
  }
}

/**
 * Keys that one round trip reads: few enough that large values fit into memory, and enough that small values
 * take few round trips.
 */
const MIN_KEYS = 16;
const MAX_KEYS = 512;
const SMALL_BYTES = 2 * 1024 * 1024;
const LARGE_BYTES = 8 * 1024 * 1024;

/** How many keys the next group has, after a group of `keys` keys had values of so many bytes. Pure. */
export function nextGroupSize(keys: number, bytes: number): number {
  if (bytes > LARGE_BYTES) return Math.max(MIN_KEYS, Math.floor(keys / 4));
  return bytes < SMALL_BYTES ? Math.min(MAX_KEYS, keys * 2) : keys;
}

/**
 * Returns a function that handles keys in groups, whose size follows the size of the values. `handle`
 * resolves to the bytes of the values of its group.
 */
export function createGrouping(): (
  keys: readonly Buffer[],
  handle: (group: Buffer[]) => Promise<number>,
) => Promise<void> {
  let size = MIN_KEYS;
  return async (keys, handle) => {
    for (let at = 0; at < keys.length; ) {
      const group = keys.slice(at, at + size);
      at += group.length;
      size = nextGroupSize(size, await handle(group));
    }
  };
}

/** Calls `ask` with each server and its keys. Returns the answer for each key, in the order of `keys`. */
export async function askByServer<T>(
  store: MoveServers,
  keys: readonly Buffer[],
  ask: (server: MoveServer, keys: Buffer[]) => Promise<T[]>,
): Promise<T[]> {
  const answers = new Map<Buffer, T>();
  for (const [server, own] of Map.groupBy(keys, store.of)) {
    const each = await ask(server, own);
    for (const [index, key] of own.entries()) {
      const answer = each[index];
      if (answer !== undefined) answers.set(key, answer);
    }
  }
  return keys.map((key) => answers.get(key) as T);
}

/** The number of keys of each project. */
export async function countKeys(store: MoveServers): Promise<Map<ProjectUid, number>> {
  const counts = new Map<ProjectUid, number>();
  for await (const { keys } of pagesOf(store))
    for (const key of keys) counts.set(projectOf(key), (counts.get(projectOf(key)) ?? 0) + 1);
  return counts;
}

/** Whether the store has no keys of Windlass. */
export async function isEmpty(store: MoveServers): Promise<boolean> {
  for await (const { keys } of pagesOf(store)) if (keys.length > 0) return false;
  return true;
}
