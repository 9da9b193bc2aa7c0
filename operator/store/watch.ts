/**
 * Detects within two seconds what no broken connection shows: that the run store has lost a project, or that
 * its server was restarted and may have lost the end of its log.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { missingProjects } from '../../runs/survey.ts';
import { serverIdentity } from '../../store/serverIdentity.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreChanges } from './changes.ts';
import type { ProjectStore } from './types.ts';

const EVERY_MS = 1_000;

type WatchContext = Pick<OperatorContext, 'conn' | 'caches' | 'clock' | 'log'> & {
  store: Pick<ProjectStore, 'invalidateAll'>;
  storeChanges: Pick<StoreChanges, 'project' | 'restarted'>;
};

/** Watches until the signal is aborted. */
export async function watchStore(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, log } = context;
  let server: string | undefined;
  while (!signal.aborted) {
    try {
      const found = await serverIdentity(context.conn);
      if (!isUnavailable(found)) {
        if (server !== undefined && server !== found) reportRestart(context);
        server = found;
        await reportLostProjects(context);
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot watch the run store');
    }
    await sleep(EVERY_MS, signal, clock);
  }
}

function reportRestart({ log, store, storeChanges }: WatchContext): void {
  log.info({}, 'run store restarted');
  store.invalidateAll();
  storeChanges.restarted.notify();
}

/** Reports every project with routes that the store does not have, again each time. */
async function reportLostProjects({ conn, caches, storeChanges }: WatchContext): Promise<void> {
  const projects = new Map(
    caches.routes.list().map(({ metadata: { namespace = '' }, spec }) => [spec.projectUID, namespace]),
  );
  const missing = await missingProjects(conn, [...projects.keys()]);
  if (isUnavailable(missing)) return;
  for (const project of missing) storeChanges.project.notify(projects.get(project) ?? '');
}
