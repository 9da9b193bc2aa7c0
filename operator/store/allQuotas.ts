/** Sets the limits of every project in the run store by the free memory, and logs projects that reach one. */
import type { WebhookRoute } from '../../api/kinds.ts';
import { jittered } from '../../kube/backoff.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Namespace } from '../../kube/resource.ts';
import { isUnavailable } from '../../store/connection.ts';
import { readServerMemory, readUse, type Use } from '../../runs/storeUse.ts';
import { setQuotas, type Quotas } from '../../runs/limits.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreMetrics } from './metrics.ts';
import { fullestOf, limitsReached, quotasOfServers } from './quota.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** A smaller change is not written. */
const LEAST_CHANGE = 0.05;
/**
 * So long a reading of a project holds whose runners sleep, with an even spread: what is accepted wakes them,
 * and then it is read at once. One that has reached a limit gets room as its entries expire.
 */
const ASLEEP_MS = 300_000;
const ASLEEP_SPREAD = 0.3;
const ASLEEP_FULL_MS = 30_000;

export type OpenProject = { uid: ProjectUid; namespace: string; use: Use };

type QuotaContext = Pick<OperatorContext, 'clock' | 'conn' | 'log'> & {
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
  caches: { namespaces: Pick<Cache<Namespace>, 'list'>; routes: Pick<Cache<WebhookRoute>, 'list'> };
};

/**
 * Each call reads all projects and returns those that are open; undefined while the run store cannot be read.
 * A project whose runners sleep is read about each five minutes. A reached limit is logged once.
 */
export function createQuotaSetter(
  { clock, conn, log, caches, scaling }: QuotaContext,
  metrics: Pick<StoreMetrics, 'seen'>,
): () => Promise<OpenProject[] | undefined> {
  let logged = new Set<string>();
  const unreadable = new Set<ProjectUid>();
  const readings = new Map<ProjectUid, { use: Use; until: number }>();

  function restingUse(uid: ProjectUid, namespace: string): Use | undefined {
    const last = scaling.asleep.get(namespace) === true ? readings.get(uid) : undefined;
    if (last === undefined || last.use.isPolling || last.use.isBusy) return undefined;
    return clock.now() < last.until ? last.use : undefined;
  }

  /**
   * Undefined if the project is not open, or its keys are damaged. A program with the account of a project
   * may damage them, which must not affect the limits of other projects.
   */
  async function useOf(uid: ProjectUid, namespace: string): Promise<Use | undefined> {
    try {
      const use = await readUse(conn, uid);
      unreadable.delete(uid);
      return isUnavailable(use) ? undefined : use;
    } catch (error) {
      if (!unreadable.has(uid)) log.warn({ namespace, err: error }, "cannot read a project's memory use");
      unreadable.add(uid);
      return undefined;
    }
  }

  async function openProjects(): Promise<OpenProject[]> {
    const found = await Promise.all(
      caches.namespaces.list().map(async ({ metadata: { uid, name: namespace } }) => {
        if (uid === undefined) return [];
        const resting = restingUse(uid, namespace);
        if (resting) return [{ uid, namespace, use: resting }];
        const use = await useOf(uid, namespace);
        if (use) readings.set(uid, { use, until: clock.now() + restingMs(use) });
        else readings.delete(uid);
        return use ? [{ uid, namespace, use }] : [];
      }),
    );
    return found.flat();
  }

  /** A project that is not open, such as one that is being restored, has routes. */
  function namespacesOf(projects: readonly OpenProject[]): string[] {
    const routed = caches.routes.list().map(({ metadata: { namespace = '' } }) => namespace);
    return [...new Set([...projects.map(({ namespace }) => namespace), ...routed])];
  }

  function logReached(projects: readonly OpenProject[]): void {
    const reached = projects.flatMap(({ namespace, use }) =>
      limitsReached(use).map((limit) => ({ namespace, limit })),
    );
    for (const { namespace, limit } of reached)
      if (!logged.has(`${limit} ${namespace}`)) log.warn({ namespace, limit }, 'run store limit reached');
    logged = new Set(reached.map(({ namespace, limit }) => `${limit} ${namespace}`));
  }

  return async () => {
    const memories = await readServerMemory(conn);
    if (isUnavailable(memories)) return undefined;
    const projects = await openProjects();
    const placed = projects.map(({ uid, use }) => ({ server: conn.primaryOf(uid), use }));
    for (const [index, next] of quotasOfServers(memories, placed).entries()) {
      const project = projects[index];
      if (!project || !next || !isSignificant(project.use, next)) continue;
      await setQuotas(conn, project.uid, next);
      const reading = readings.get(project.uid);
      if (reading) reading.use = { ...reading.use, ...next };
    }
    metrics.seen(fullestOf(memories.values()), projects, namespacesOf(projects));
    logReached(projects);
    forgetGone(readings, projects);
    return projects;
  };
}

function restingMs(use: Use): number {
  return limitsReached(use).length > 0 ? ASLEEP_FULL_MS : jittered(ASLEEP_MS, ASLEEP_SPREAD);
}

function isSignificant(now: Quotas, next: Quotas): boolean {
  const changes = (['quota', 'claimQuota', 'keyQuota', 'unfinished'] as const).map(
    (name) => Math.abs(next[name] - now[name]) / Math.max(1, now[name]),
  );
  return Math.max(...changes) > LEAST_CHANGE;
}

function forgetGone(readings: Map<ProjectUid, unknown>, projects: readonly OpenProject[]): void {
  const open = new Set(projects.map(({ uid }) => uid));
  for (const uid of readings.keys()) if (!open.has(uid)) readings.delete(uid);
}
