import type { Log } from '../kube/log.ts';
import type { RunStoreConnection } from './connection.ts';
import type { ProjectUid } from './types.ts';

/** Watches the beats of the other runners and takes over the claims of those that are dead. */
export declare function createTakeover(options: {
  conn: RunStoreConnection;
  project: ProjectUid;
  runner: string;
  log?: Log;
}): { run(signal: AbortSignal): Promise<void> };
