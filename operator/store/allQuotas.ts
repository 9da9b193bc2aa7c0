/** Gives every project its limits in the run store, by what is free now, and says which projects have reached one. */
import type { WebhookRoute } from '../../api/kinds.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Namespace } from '../../kube/resource.ts';
import { isUnavailable } from '../../store/connection.ts';
import { readMemory, readUse, type Use } from '../../runs/usage.ts';
import { setQuotas, type Quotas } from '../../runs/limits.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreMetrics } from './metrics.ts';
import { limitsReached, quotasOf } from './quota.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** A change of less is not worth a write. */
const WORTH = 0.05;

export type OpenProject = { uid: ProjectUid; namespace: string; use: Use };

type QuotaContext = Pick<OperatorContext, 'conn' | 'log'> & {
  caches: { namespaces: Pick<Cache<Namespace>, 'list'>; routes: Pick<Cache<WebhookRoute>, 'list'> };
};

/** Each call looks at all projects once and answers with those that are open; what was told of is told of once. */
export function createQuotaSetter(
  { conn, log, caches }: QuotaContext,
  metrics: StoreMetrics,
): () => Promise<OpenProject[]> {
  let told = new Set<string>();
  const unreadable = new Set<ProjectUid>();

  /**
   * Undefined where the project is not open, or where its keys are damaged. Whoever has the account of a project may damage them, so that
   * must not keep other projects from their limits.
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
        const use = uid === undefined ? undefined : await useOf(uid, namespace);
        return uid !== undefined && use ? [{ uid, namespace, use }] : [];
      }),
    );
    return found.flat();
  }

  /** Of a project that is not open, such as one that is being restored, the routes are left. */
  function namespacesOf(projects: readonly OpenProject[]): string[] {
    const routed = caches.routes.list().map(({ metadata: { namespace = '' } }) => namespace);
    return [...new Set([...projects.map(({ namespace }) => namespace), ...routed])];
  }

  function tell(projects: readonly OpenProject[]): void {
    const reached = projects.flatMap(({ namespace, use }) =>
      limitsReached(use).map((limit) => ({ namespace, limit })),
    );
    for (const { namespace, limit } of reached)
      if (!told.has(`${limit} ${namespace}`)) log.warn({ namespace, limit }, 'run store limit reached');
    told = new Set(reached.map(({ namespace, limit }) => `${limit} ${namespace}`));
  }

  return async () => {
    const memory = await readMemory(conn);
    if (isUnavailable(memory)) return [];
    const projects = await openProjects();
    const uses = projects.map(({ use }) => use);
    for (const [index, next] of quotasOf(memory, uses).entries()) {
      const project = projects[index];
      if (project && isWorthIt(project.use, next)) await setQuotas(conn, project.uid, next);
    }
    metrics.seen(memory, projects, namespacesOf(projects));
    tell(projects);
    return projects;
  };
}

function isWorthIt(now: Quotas, next: Quotas): boolean {
  const changes = (['quota', 'claimQuota', 'keyQuota'] as const).map(
    (name) => Math.abs(next[name] - now[name]) / Math.max(1, now[name]),
  );
  return Math.max(...changes) > WORTH;
}
