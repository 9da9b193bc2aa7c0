/**
 * Detects what no broken connection shows: that the run store has lost projects, or that its server was
 * restarted and may have lost the end of its log. Within two seconds, but for a project that is lost alone
 * among many: 200 are read a second.
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
/** Projects that are read at a time. Where one of them is lost, all are read. */
const AT_A_TIME = 200;

type WatchContext = Pick<OperatorContext, 'conn' | 'clock' | 'log'> & {
  caches: { routes: Pick<Cache<WebhookRoute>, 'list' | 'onChange'> };
  store: Pick<ProjectStore, 'invalidateAll'>;
  storeChanges: Pick<StoreChanges, 'identified' | 'project' | 'restarted'>;
};

/** Watches until the signal is aborted. */
export async function watchStore(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, conn, log, storeChanges } = context;
  const followed = followProjects(context);
  let servers: ReadonlyMap<string, string> = new Map();
  let reading = 0;
  while (!signal.aborted) {
    try {
      const projects = followed.namespaces();
      const all = [...projects.keys()];
      // Both in one write to the run store, so that both are of one server.
      const [found, missed] = await Promise.all([
        serverIdentities(conn),
        missingProjects(conn, pageOf(all, reading)),
      ]);
      reading += 1;
      const isAnyMissing = !isUnavailable(missed) && missed.length > 0;
      const missing = isAnyMissing && all.length > AT_A_TIME ? await missingProjects(conn, all) : missed;
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
  followed.end();
}

/** The projects that are read at this reading. */
function pageOf(projects: readonly string[], reading: number): readonly string[] {
  const pages = Math.max(1, Math.ceil(projects.length / AT_A_TIME));
  const begin = (reading % pages) * AT_A_TIME;
  return projects.slice(begin, begin + AT_A_TIME);
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

/** The projects with routes and their namespaces, listed again when routes have changed. */
function followProjects({ caches: { routes } }: WatchContext) {
  let listed: ReadonlyMap<string, string> | undefined;
  const list = (): ReadonlyMap<string, string> =>
    new Map(routes.list().map(({ metadata: { namespace = '' }, spec }) => [spec.projectUID, namespace]));
  const end = routes.onChange(() => {
    listed = undefined;
  });
  return { namespaces: (): ReadonlyMap<string, string> => (listed ??= list()), end };
}
