/** Sets the limits of every project in the run store by the free memory, and logs projects that reach one. */
import type { WebhookRoute } from '../../api/kinds.ts';
import { jittered } from '../../kube/backoff.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Namespace } from '../../kube/resource.ts';
import { isUnavailable, type Unavailable } from '../../store/connection.ts';
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
 * and then it is read at once.
 */
const ASLEEP_MS = 600_000;
const ASLEEP_SPREAD = 0.3;
/**
 * So many readings in a row find neither runs nor polls before they hold: whoever follows the polls waits for
 * a second one (`poll/pollingRunners.ts`).
 */
const QUIET_READINGS = 2;
/**
 * From one round to the next: in a round readings are repeated that do not hold any longer, and all limits
 * and metrics are updated also where every project rests.
 */
const ROUND_MS = 30_000;
/** A beat may come a moment too early. */
const EARLY_MS = 500;

export type OpenProject = { uid: ProjectUid; namespace: string; use: Use };

type QuotaContext = Pick<OperatorContext, 'clock' | 'conn' | 'log'> & {
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
  caches: { namespaces: Pick<Cache<Namespace>, 'list'>; routes: Pick<Cache<WebhookRoute>, 'list'> };
};

/** What is known of a project. `open`: undefined if it is not. `until`: while it rests, by the clock. */
type Reading = { open: OpenProject | undefined; until: number; quiet: number };

/**
 * Each call reads all projects but those that rest, and returns those that are open. Undefined while the run
 * store cannot be read, and while all projects rest, but for one call in 30 seconds: nothing has changed.
 * A project rests while its runners sleep, and is read about each ten minutes. A namespace without routes
 * rests where it is not open. A reached limit is logged once.
 */
export function createQuotaSetter(
  { clock, conn, log, caches, scaling }: QuotaContext,
  metrics: Pick<StoreMetrics, 'seen'>,
): () => Promise<readonly OpenProject[] | undefined> {
  let logged = new Set<string>();
  const unreadable = new Set<ProjectUid>();
  const readings = new Map<ProjectUid, Reading>();
  let round = -1;

  /** Whether nothing has happened in the project since it was read. */
  function isAtRest(last: Reading, namespace: string): boolean {
    if (last.open === undefined) return caches.routes.list(namespace).length === 0;
    return scaling.asleep.get(namespace) === true && last.quiet >= QUIET_READINGS;
  }

  function isDue({ metadata: { uid = '', name } }: Namespace, isInRound: boolean): boolean {
    const last = readings.get(uid);
    return last === undefined || !isAtRest(last, name) || (isInRound && clock.now() >= last.until);
  }

  /**
   * Undefined if the project is not open, or its keys are damaged. A program with the account of a project
   * may damage them, which must not affect the limits of other projects.
   */
  async function useOf(uid: ProjectUid, namespace: string): Promise<Use | undefined | Unavailable> {
    try {
      const use = await readUse(conn, uid);
      unreadable.delete(uid);
      return use;
    } catch (error) {
      if (!unreadable.has(uid)) log.warn({ namespace, err: error }, "cannot read a project's memory use");
      unreadable.add(uid);
      return undefined;
    }
  }

  async function readProject(uid: ProjectUid, namespace: string): Promise<void> {
    const use = await useOf(uid, namespace);
    if (isUnavailable(use)) readings.delete(uid);
    else if (use === undefined) readings.set(uid, { open: undefined, until: clock.now(), quiet: 0 });
    else {
      const quiet = use.isPolling || use.isBusy ? 0 : (readings.get(uid)?.quiet ?? 0) + 1;
      readings.set(uid, { open: { uid, namespace, use }, until: clock.now() + restingMs(use), quiet });
    }
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
    const thisRound = Math.floor((clock.now() + EARLY_MS) / ROUND_MS);
    const existing = caches.namespaces.list().filter(({ metadata: { uid } }) => uid !== undefined);
    const due = existing.filter((namespace) => isDue(namespace, thisRound !== round));
    if (due.length === 0 && thisRound === round) return undefined;
    const memories = await readServerMemory(conn);
    if (isUnavailable(memories)) return undefined;
    round = thisRound;
    await Promise.all(due.map(({ metadata: { uid = '', name } }) => readProject(uid, name)));
    const projects = existing.flatMap(({ metadata: { uid = '' } }) => readings.get(uid)?.open ?? []);
    const placed = projects.map(({ uid, use }) => ({ server: conn.primaryOf(uid), use }));
    for (const [index, next] of quotasOfServers(memories, placed).entries()) {
      const project = projects[index];
      if (!project || !next || !isSignificant(project.use, next)) continue;
      const stored = await setQuotas(conn, project.uid, next);
      const reading = readings.get(project.uid);
      // Without a reading the project is read, and set, in the next pass.
      if (isUnavailable(stored)) readings.delete(project.uid);
      else if (reading?.open) reading.open = { ...reading.open, use: { ...reading.open.use, ...next } };
    }
    metrics.seen(fullestOf(memories.values()), projects, namespacesOf(projects));
    logReached(projects);
    forgetGone(readings, existing);
    return projects;
  };
}

/** A project that has reached a limit gets room as its entries expire: it is read in each round. */
function restingMs(use: Use): number {
  return limitsReached(use).length > 0 ? 0 : jittered(ASLEEP_MS, ASLEEP_SPREAD);
}

const LIMITS = ['quota', 'claimQuota', 'keyQuota', 'unfinished'] as const;

function isSignificant(now: Quotas, next: Quotas): boolean {
  return LIMITS.some((name) => Math.abs(next[name] - now[name]) / Math.max(1, now[name]) > LEAST_CHANGE);
}

function forgetGone(readings: Map<ProjectUid, unknown>, existing: readonly Namespace[]): void {
  const uids = new Set(existing.map(({ metadata }) => metadata.uid));
  for (const uid of readings.keys()) if (!uids.has(uid)) readings.delete(uid);
}
