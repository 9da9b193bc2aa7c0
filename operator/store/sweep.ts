/**
 * Removes from the run store what belongs to nothing any more: projects whose namespace is gone, with their accounts, and
 * workflows that were deleted while no operator ran. It remembers nothing; every suspicion is confirmed by the API server.
 */
import { namespaces } from '../../kube/resource.ts';
import { dropPoolAccount, poolAccounts } from '../../runs/accounts.ts';
import { isUnavailable, orUnavailable } from '../../runs/connection.ts';
import { projectOfKey, workflowOfKey } from '../../runs/keys.ts';
import { forEachPage } from '../../runs/pages.ts';
import { closeProject } from '../../runs/project.ts';
import type { ProjectUid } from '../../runs/types.ts';
import type { OperatorContext } from '../context.ts';
import { workflows } from '../resources.ts';

type SweepContext = Pick<OperatorContext, 'client' | 'world' | 'conn' | 'store' | 'log' | 'config'>;

type Seen = { projects: Set<ProjectUid>; workflows: Map<ProjectUid, Set<string>> };

/** Looks at all keys once. `pause` is called after each page of 500. False where the run store could not be reached. */
export async function sweepStore(context: SweepContext, pause: () => Promise<void>): Promise<boolean> {
  const seen = await orUnavailable(() => lookAt(context, pause));
  if (isUnavailable(seen)) return false;
  // An operator of some namespaces alone cannot tell what belongs to those of others.
  const isOverAll = context.config.WATCH_NAMESPACES.length === 0;
  if (isOverAll && !(await dropProjects(context, seen.projects))) return false;
  for (const [project, uids] of seen.workflows) await dropWorkflows(context, project, uids);
  return true;
}

async function lookAt({ conn }: SweepContext, pause: () => Promise<void>): Promise<Seen> {
  const projects = new Set(await poolAccounts(conn));
  const found = new Map<ProjectUid, Set<string>>();
  await forEachPage(conn, 'wl:*', async (keys) => {
    for (const key of keys) {
      const project = projectOfKey(key);
      if (project === undefined) continue;
      projects.add(project);
      const workflow = workflowOfKey(key);
      if (workflow !== undefined) found.set(project, (found.get(project) ?? new Set()).add(workflow));
    }
    await pause();
  });
  return { projects, workflows: found };
}

/** False where the run store could not be reached. */
async function dropProjects(context: SweepContext, seen: ReadonlySet<ProjectUid>): Promise<boolean> {
  const { client, world, conn, store, log } = context;
  const cached = new Set(world.namespaces.list().map(({ metadata }) => metadata.uid));
  const suspects = [...seen].filter((uid) => !cached.has(uid));
  if (suspects.length === 0) return true;
  const { items } = await client.listAll(namespaces);
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  for (const project of suspects.filter((uid) => !there.has(uid))) {
    // The account first: its runners could write what was removed just now.
    const dropped = await dropPoolAccount(conn, project);
    const closed = dropped.outcome === 'done' ? await closeProject(conn, project) : dropped;
    if (closed.outcome === 'unavailable') return false;
    store.forget(project);
    log.info({ project }, 'removed what the run store held of a namespace that is gone');
  }
  return true;
}

async function dropWorkflows(
  { client, world, store, log }: SweepContext,
  project: ProjectUid,
  seen: ReadonlySet<string>,
): Promise<void> {
  const namespace = world.namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  if (namespace === undefined) return;
  const cached = new Set(world.workflows.list(namespace).map(({ metadata }) => metadata.uid));
  const suspects = [...seen].filter((uid) => !cached.has(uid));
  if (suspects.length === 0) return;
  const { items } = await client.listAll(workflows, { namespace });
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  for (const workflow of suspects.filter((uid) => !there.has(uid))) {
    await store.dropWorkflow(project, workflow);
    log.info({ namespace, workflow }, 'cancelled and forgot the runs of a workflow that is gone');
  }
}
