import type { RunStoreConnection } from './connection.ts';
import type { ClaimRef, Fenced, ProjectUid, Unavailable } from './types.ts';

/** Gives a claim back: the run is ready again, first in its line, and no crash is counted. */
export declare function handBack(conn: RunStoreConnection, ref: ClaimRef): Promise<Fenced>;

/** Gives back all that a runner holds in the project. */
export declare function handBackAll(
  conn: RunStoreConnection,
  options: { project: ProjectUid; runner: string },
): Promise<{ outcome: 'done'; runs: string[] } | Unavailable>;
