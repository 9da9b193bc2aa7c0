import type { RunStoreConnection } from './connection.ts';
import type { Claimed, ProjectUid } from './types.ts';

/** Claims up to `max` ready runs, in the order that is fair between workflows. */
export declare function claimRuns(
  conn: RunStoreConnection,
  options: { project: ProjectUid; runner: string; max: number },
): Promise<Claimed>;
