/** Waits for ready runs without constant polling. */
import type { RunStoreConnection } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { createSignal, type Signal } from '../store/signal.ts';
import { noteReady } from './claim.ts';

/** How long a lost message can delay a run. */
const POLL_MS = 1_000;

const signals = new WeakMap<RunStoreConnection, Map<ProjectUid, Signal>>();

/**
 * Resolves when there may be work in the project: a run became ready since the last call, or a second has
 * passed, or the abort signal is raised. For one caller per connection and project.
 */
export async function waitForWork(
  conn: RunStoreConnection,
  project: ProjectUid,
  signal: AbortSignal,
): Promise<void> {
  const work = signalOf(conn, project);
  if (signal.aborted) return;
  signal.addEventListener('abort', work.raise, { once: true });
  await work.wait(POLL_MS);
  signal.removeEventListener('abort', work.raise);
}

/** Subscribes at the first call, for as long as the connection lives: a runner listens to one project. */
function signalOf(conn: RunStoreConnection, project: ProjectUid): Signal {
  const projects = signals.get(conn) ?? new Map<ProjectUid, Signal>();
  signals.set(conn, projects);
  const known = projects.get(project);
  if (known) return known;
  const work = createSignal();
  projects.set(project, work);
  void conn.subscriber().subscribe(keysOf(project).ready, (entry) => {
    if (entry !== undefined) noteReady(conn, project, entry);
    work.raise();
  });
  return work;
}
