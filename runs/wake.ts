/** Waiting for work without asking for it all the time. */
import { noteReady } from './claim.ts';
import type { RunStoreConnection } from './connection.ts';
import { keysOf } from './keys.ts';
import type { ProjectUid } from './types.ts';

/** How long a lost message can hold work up. */
const POLL_MS = 1_000;

type Listening = { woken: boolean; wake: () => void };

const listening = new WeakMap<RunStoreConnection, Map<ProjectUid, Listening>>();

/**
 * Resolves when there may be work in the project: a run became ready since the last call, or a second has passed, or the
 * signal is aborted.
 */
export async function waitForWork(
  conn: RunStoreConnection,
  project: ProjectUid,
  signal: AbortSignal,
): Promise<void> {
  const state = listenTo(conn, project);
  if (!state.woken && !signal.aborted) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      state.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', state.wake, { once: true });
    });
    signal.removeEventListener('abort', state.wake);
  }
  state.woken = false;
}

function listenTo(conn: RunStoreConnection, project: ProjectUid): Listening {
  const projects = listening.get(conn) ?? new Map<ProjectUid, Listening>();
  listening.set(conn, projects);
  const known = projects.get(project);
  if (known) return known;
  const state: Listening = { woken: false, wake: () => undefined };
  projects.set(project, state);
  // For as long as the connection lives: a runner listens to one project.
  void conn.subscriber().subscribe(keysOf(project).q, (entry) => {
    if (entry !== undefined) noteReady(conn, project, entry);
    state.woken = true;
    state.wake();
  });
  return state;
}
