/** A project in the run store: opening it, its id, and removing all of its keys. */
import { sleep } from '../kube/clock.ts';
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, projectOfKey, type ProjectUid } from '../store/keys.ts';
import { forEachPage, type Scan } from '../store/scan.ts';
import { beginSeeding, openSeeded } from './seed.ts';

/**
 * Opens a project that has nothing to restore. `fresh`: it was not open. Before, every call answers
 * `unavailable`, `no-store`.
 */
export async function openProject(
  conn: RunStoreConnection,
  project: ProjectUid,
  options: { quotaBytes?: number } = {},
): Promise<{ outcome: 'done'; id: string; fresh: boolean } | Unavailable> {
  const begun = await beginSeeding(conn, project);
  if (begun.outcome === 'unavailable') return begun;
  if (begun.outcome === 'open') return { outcome: 'done', id: begun.id, fresh: false };
  const opened = await openSeeded(conn, begun.seeding, options);
  if (opened.outcome === 'superseded') return openProject(conn, project, options);
  return opened.outcome === 'done' ? { ...opened, fresh: true } : opened;
}

/** The id of the project's data; undefined where it has none. */
export function storeId(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<string | undefined | Unavailable> {
  return orUnavailable(async () => {
    const id = await conn.command('hget', keysOf(project).meta, 'id');
    return typeof id === 'string' ? id : undefined;
  });
}

/**
 * Removes all keys of a project whose namespace is gone. The account must be allowed to SCAN: the operator's
 * is. With the `scan` of an interrupted call it continues there.
 */
export function closeProject(conn: RunStoreConnection, project: ProjectUid, scan?: Scan): Promise<Done> {
  return closeProjects(conn, [project], scan);
}

/** Keys that one command removes: about a millisecond of the server. */
const REMOVED_AT_ONCE = 100;
/** The shortest pause between two commands: the server frees memory while it answers others. */
const REST_MS = 4;
/** A pause is this many times as long as the command before, where that is longer. */
const REST_PER_COMMAND = 2;

/** Removes all keys of several projects in one scan, and leaves most of the server's time to others. */
export function closeProjects(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
  scan?: Scan,
): Promise<Done> {
  const [only = ''] = projects;
  const pattern = projects.length === 1 ? `${keysOf(only).prefix}*` : 'wl:*';
  const closed = new Set<string | undefined>(projects);
  return doneOrUnavailable(async () => {
    // First, so that no event is accepted any more.
    for (const project of projects) await conn.command('unlink', keysOf(project).meta);
    await forEachPage(
      conn,
      pattern,
      async (names) => {
        for (const [project, own] of Map.groupBy(names, projectOfKey))
          if (closed.has(project)) await removeKeys(conn, own);
      },
      scan,
    );
  });
}

async function removeKeys(conn: RunStoreConnection, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += REMOVED_AT_ONCE) {
    const startedAt = performance.now();
    await conn.command('unlink', ...names.slice(at, at + REMOVED_AT_ONCE));
    await sleep(Math.max(REST_MS, (performance.now() - startedAt) * REST_PER_COMMAND));
  }
}
