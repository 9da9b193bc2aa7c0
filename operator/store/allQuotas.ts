/** Gives every project its limits in the run store, by what is free now, and says which projects have reached one. */
import { isUnavailable } from '../../runs/connection.ts';
import { readMemory, readUse, type Use } from '../../runs/memory.ts';
import { setQuotas, type Quotas } from '../../runs/project.ts';
import type { ProjectUid } from '../../runs/types.ts';
import type { OperatorContext } from '../context.ts';
import type { StoreMetrics } from './metrics.ts';
import { limitsReached, quotasOf } from './quota.ts';

/** A change of less is not worth a write. */
const WORTH = 0.05;

export type OpenProject = { uid: ProjectUid; namespace: string; use: Use };

type QuotaContext = Pick<OperatorContext, 'conn' | 'world' | 'log'>;

/** Each call looks at all projects once and answers with those that are open; what was told of is told of once. */
export function createQuotaSetter(
  context: QuotaContext,
  metrics: StoreMetrics,
): () => Promise<OpenProject[]> {
  const { conn, log } = context;
  let told = new Set<string>();

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
    const projects = await openProjects(context);
    const uses = projects.map(({ use }) => use);
    for (const [index, next] of quotasOf(memory, uses).entries()) {
      const project = projects[index];
      if (project && isWorthIt(project.use, next)) await setQuotas(conn, project.uid, next);
    }
    metrics.seen(memory, projects);
    tell(projects);
    return projects;
  };
}

async function openProjects({ conn, world }: QuotaContext): Promise<OpenProject[]> {
  const found = await Promise.all(
    world.namespaces.list().map(async ({ metadata: { uid, name } }) => {
      const use = uid === undefined ? undefined : await readUse(conn, uid);
      return uid !== undefined && use && !isUnavailable(use) ? [{ uid, namespace: name ?? '', use }] : [];
    }),
  );
  return found.flat();
}

function isWorthIt(now: Quotas, next: Quotas): boolean {
  const changes = (['quota', 'claimQuota', 'keyQuota'] as const).map(
    (name) => Math.abs(next[name] - now[name]) / Math.max(1, now[name]),
  );
  return Math.max(...changes) > WORTH;
}
