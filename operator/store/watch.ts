/**
 * Detects what no broken connection shows: that the run store has lost projects, or that its server was
 * restarted and may have lost the end of its log. Within two seconds, but for a project that is lost alone:
 * of those that are awake 200 are read a second, and each that sleeps within half a minute.
 */
import type { WebhookRoute } from '../../api/kinds.ts';
import { untilBeat } from '../../kube/beat.ts';
import type { Cache } from '../../kube/cache.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import { missingProjects } from '../../runs/survey.ts';
import { serverIdentities } from '../../store/serverIdentity.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreChanges } from './changes.ts';
import { followRoutedProjects } from './routedProjects.ts';
import type { ProjectStore } from './types.ts';

const EVERY_MS = 1_000;
/** Awake projects that are read at a time. Where a project is lost, all are read. */
const AT_A_TIME = 200;
/** Readings in which each sleeping project is read once. */
const ASLEEP_READINGS = 30;

type WatchContext = Pick<OperatorContext, 'conn' | 'clock' | 'log'> & {
  caches: { routes: Pick<Cache<WebhookRoute>, 'list' | 'onChange'> };
  store: Pick<ProjectStore, 'invalidateAll'>;
  storeChanges: Pick<StoreChanges, 'identified' | 'project' | 'restarted'>;
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
};

/** Watches until the signal is aborted. */
export async function watchStore(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { caches, clock, conn, log, scaling, storeChanges } = context;
  const followed = followRoutedProjects(caches.routes);
  let servers: ReadonlyMap<string, string> = new Map();
  let reading = 0;
  while (!signal.aborted) {
    try {
      const projects = followed.namespaces();
      const some = projectsOf(reading, projects, scaling.asleep);
      // Both in one turn of the event loop, so that both are of one server.
      const [found, missed] = await Promise.all([serverIdentities(conn), missingProjects(conn, some)]);
      reading += 1;
      const areOthers = !isUnavailable(found) && hasOthers(servers, found);
      const isAnyMissing = !isUnavailable(missed) && missed.length > 0;
      const readsAll = (areOthers || isAnyMissing) && some.length < projects.size;
      const missing = readsAll ? await missingProjects(conn, [...projects.keys()]) : missed;
      if (areOthers) {
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
    await untilBeat(EVERY_MS, signal, clock);
  }
  followed.end();
}

/** The projects of this reading: a page of those that are awake, and some of those that sleep. */
function projectsOf(
  reading: number,
  projects: ReadonlyMap<ProjectUid, string>,
  asleep: ReadonlyMap<string, boolean>,
): ProjectUid[] {
  const [awake, sleeping]: [ProjectUid[], ProjectUid[]] = [[], []];
  for (const [project, namespace] of projects)
    (asleep.get(namespace) === true ? sleeping : awake).push(project);
  const due = sleeping.filter((project) => turnOf(project) === reading % ASLEEP_READINGS);
  return [...pageOf(awake, reading, AT_A_TIME), ...due];
}

/**
 * The reading in which a sleeping project is read. Not by its place among those that sleep: others that wake
 * would move it, and it could be passed over.
 */
function turnOf(project: ProjectUid): number {
  const letter = (fromEnd: number): number => project.charCodeAt(project.length - fromEnd) || 0;
  return (letter(1) + letter(2) * 16 + letter(3) * 256) % ASLEEP_READINGS;
}

function pageOf(projects: readonly ProjectUid[], reading: number, size: number): ProjectUid[] {
  const pages = Math.max(1, Math.ceil(projects.length / size));
  const begin = (reading % pages) * size;
  return projects.slice(begin, begin + size);
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
