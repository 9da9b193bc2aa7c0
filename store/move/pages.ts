/** The keys of Windlass in the servers of a store, page by page. */
import { projectOfKey, type ProjectUid } from '../keys.ts';
import { isMark, type Copied } from './marks.ts';
import { FIRST_SIZE, nextSize } from './plan.ts';
import { valueOf, type MoveServer, type MoveServers } from './servers.ts';

const SCANNED = 512;
/** Keys of no project, such as sessions of the console. */
export const NO_PROJECT = '-';

/** The project of a key; `-`: it belongs to none. */
export function projectOf(key: Buffer): ProjectUid {
  const project = projectOfKey(key.toString('latin1'));
  return project !== undefined && /^[A-Za-z0-9-]{1,64}$/.test(project) ? project : NO_PROJECT;
}

export type KeyPage = {
  server: MoveServer;
  keys: Buffer[];
  /** Where to continue after this page; 0: the server has no more. */
  cursor: string;
};

/** All pages, from `from` on. A key may come twice. While nobody writes, none is left out. */
export async function* pagesOf(
  store: MoveServers,
  from?: Pick<Copied, 'server' | 'cursor'>,
): AsyncGenerator<KeyPage> {
  for (const server of store.all) {
    if (from && server.name < from.server) continue;
    let cursor = from?.server === server.name ? from.cursor : '0';
    // The last page of an interrupted call: nothing is left of this server.
    if (from?.server === server.name && cursor === '0') continue;
    do {
      const [answer] = await server.ask([['scan', cursor, 'match', 'wl:*', 'count', SCANNED]]);
      const [next, names] = valueOf(answer) as [Buffer, Buffer[]];
      cursor = next.toString();
      yield { server, keys: names.filter((key) => !isMark(key)), cursor };
    } while (cursor !== '0');
  }
}

/**
 * Handles keys in groups: larger ones while their values are small. `handle` answers how many bytes they had.
 */
export function createGroups(): (
  keys: readonly Buffer[],
  handle: (group: Buffer[]) => Promise<number>,
) => Promise<void> {
  let size = FIRST_SIZE;
  return async (keys, handle) => {
    for (let at = 0; at < keys.length; ) {
      const group = keys.slice(at, at + size);
      at += group.length;
      size = nextSize(size, await handle(group));
    }
  };
}

/** Calls `work` with the keys of each server, and answers for each key in the order of `keys`. */
export async function byServer<T>(
  store: MoveServers,
  keys: readonly Buffer[],
  work: (server: MoveServer, keys: Buffer[]) => Promise<T[]>,
): Promise<T[]> {
  const answers = new Map<Buffer, T>();
  for (const [server, own] of Map.groupBy(keys, store.of)) {
    const each = await work(server, own);
    for (const [index, key] of own.entries()) {
      const answer = each[index];
      if (answer !== undefined) answers.set(key, answer);
    }
  }
  return keys.map((key) => answers.get(key) as T);
}

/** How many keys each project has. */
export async function countKeys(store: MoveServers): Promise<Map<ProjectUid, number>> {
  const counts = new Map<ProjectUid, number>();
  for await (const { keys } of pagesOf(store))
    for (const key of keys) counts.set(projectOf(key), (counts.get(projectOf(key)) ?? 0) + 1);
  return counts;
}

/** Whether the store has no key of Windlass. */
export async function isEmpty(store: MoveServers): Promise<boolean> {
  for await (const { keys } of pagesOf(store)) if (keys.length > 0) return false;
  return true;
}
