/**
 * Detects within two seconds what no broken connection shows: that the run store has lost a project, or that
 * its server was restarted and may have lost the end of its log.
 */
import type { WebhookRoute } from '../../api/kinds.ts';
import type { Cache } from '../../kube/cache.ts';
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { missingProjects } from '../../runs/survey.ts';
import { serverIdentities } from '../../store/serverIdentity.ts';
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
  let servers: ReadonlyMap<string, string> = new Map();
  while (!signal.aborted) {
    try {
      const projects = namespacesByProject(context);
      // Both in one write to the run store, so that both are of one server.
      const [found, missing] = await Promise.all([
        serverIdentities(conn),
        missingProjects(conn, [...projects.keys()]),
      ]);
      if (!isUnavailable(found) && hasOthers(servers, found)) {
        if (servers.size > 0) reportRestart(context);
        servers = new Map([...servers, ...found]);
        storeChanges.identified.notify([...servers.values()].join());
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

/** Whether a server was restarted, or another one takes writes now. */
function hasOthers(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): boolean {
  return [...now].some(([name, identity]) => before.get(name) !== identity);
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
