/** Messages about ready runs. */
import type { RunStoreConnection } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { noteReady } from './claim.ts';

/**
 * Calls `onReady` when a run may have become ready, and notes its entry for the next claim. A message may be
 * lost. `end` unsubscribes.
 */
export function watchReady(
  conn: RunStoreConnection,
  project: ProjectUid,
  onReady: () => void,
): { end(): void } {
  const subscription = conn.subscriber().subscribe(keysOf(project).ready, (entry) => {
    if (entry !== undefined) noteReady(conn, project, entry);
    onReady();
  });
  return { end: () => void subscription.then((it) => it.end()) };
}
