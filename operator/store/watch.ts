/**
 * Detects within two seconds what no broken connection shows: that the run store has lost a project, or that
 * its server was restarted and may have lost the end of its log.
 */
import type { WebhookRoute } from '../../api/kinds.ts';
import type { Cache } from '../../kube/cache.ts';
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { missingProjects } from '../../runs/survey.ts';
import { serverIdentity } from '../../store/serverIdentity.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreChanges } from './changes.ts';
import type { ProjectStore } from './types.ts';

const EVERY_MS = 1_000;

type WatchContext = Pick<OperatorContext, 'conn' | 'clock' | 'log'> & {
  caches: { routes: Pick<Cache<WebhookRoute>, 'list'> };
  store: Pick<ProjectStore, 'invalidateAll'>;
  storeChanges: Pick<StoreChanges, 'identified' | 'project' | 'restarted'>;
};

/** Watches until the signal is aborted. */
export async function watchStore(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, conn, log, storeChanges } = context;
  let server: string | undefined;
  while (!signal.aborted) {
    try {
      const projects = namespacesByProject(context);
      // Both in one write to the run store, so that both are of one server.
      const [found, missing] = await Promise.all([
        serverIdentity(conn),
        missingProjects(conn, [...projects.keys()]),
      ]);
      if (!isUnavailable(found) && server !== found) {
        if (server !== undefined) reportRestart(context);
        server = found;
        storeChanges.identified.notify(found);
      }
      // Each again each time.
      for (const project of isUnavailable(missing) ? [] : missing)
        storeChanges.project.notify(projects.get(project) ?? '');
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

/** The projects with routes. */
function namespacesByProject({ caches }: WatchContext): Map<string, string> {
  return new Map(
    caches.routes.list().map(({ metadata: { namespace = '' }, spec }) => [spec.projectUID, namespace]),
  );
}
