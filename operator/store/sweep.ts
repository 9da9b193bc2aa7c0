/**
 * Removes from the run store what belongs to nothing any more: projects whose namespace is gone, with their accounts, and
 * workflows that were deleted while no operator ran. Every suspicion is confirmed by the API server.
 */
import { namespaces } from '../../kube/resource.ts';
import { dropPoolAccount, poolAccounts } from '../../store/accounts.ts';
import { isUnavailable, orUnavailable } from '../../store/connection.ts';
import { projectOfKey, workflowOfKey, type ProjectUid } from '../../store/keys.ts';
import { forEachPage, newScan, type Scan } from '../../store/scan.ts';
import { closeProjects } from '../../runs/project.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { ProjectStore } from './types.ts';
import { workflows } from '../shared/resources.ts';

type SweepContext = Pick<OperatorContext, 'client' | 'caches' | 'conn' | 'log' | 'config'> & {
  store: Pick<ProjectStore, 'forget' | 'noteDeleted'>;
};

/** What one sweep has found so far, and how far it is: through all keys, then through those of projects that are gone. */
type Sweep = {
  projects: Set<ProjectUid>;
  workflows: Map<ProjectUid, Set<string>>;
  looking: Scan;
  isSeen: boolean;
  removing: Scan;
};

export type Sweeper = {
  /**
   * Looks at all keys once. `pause` is called after each page of 500. False where the run store could not be reached: the next call goes
   * on where this one broke off.
   */
  sweep(pause: () => Promise<void>): Promise<boolean>;
};

const newSweep = (): Sweep => ({
  projects: new Set(),
  workflows: new Map(),
  looking: newScan(),
  isSeen: false,
  removing: newScan(),
});

/** Creates the sweeper. It remembers a sweep that has not come to its end, and nothing else. */
export function createSweeper(context: SweepContext): Sweeper {
  let current = newSweep();
  return {
    sweep: async (pause) => {
      if (!current.isSeen && isUnavailable(await orUnavailable(() => lookAt(context, current, pause))))
        return false;
      // An operator of some namespaces alone cannot tell what belongs to those of others.
      const isOverAll = context.config.WATCH_NAMESPACES.length === 0;
      if (isOverAll && !(await dropProjects(context, current))) return false;
      for (const [project, uids] of current.workflows) await noteWorkflows(context, project, uids);
      current = newSweep();
      return true;
    },
  };
}

async function lookAt({ conn }: SweepContext, sweep: Sweep, pause: () => Promise<void>): Promise<void> {
  for (const project of await poolAccounts(conn)) sweep.projects.add(project);
  const visit = async (keys: string[]): Promise<void> => {
    for (const key of keys) {
      const project = projectOfKey(key);
      if (project === undefined) continue;
      sweep.projects.add(project);
      const workflow = workflowOfKey(key);
      const found = sweep.workflows.get(project) ?? new Set();
      if (workflow !== undefined) sweep.workflows.set(project, found.add(workflow));
    }
    await pause();
  };
  await forEachPage(conn, 'wl:*', visit, sweep.looking);
  sweep.isSeen = true;
}

/** False where the run store could not be reached. */
async function dropProjects(context: SweepContext, { projects, removing }: Sweep): Promise<boolean> {
  const { client, caches, conn, store, log } = context;
  const cached = new Set(caches.namespaces.list().map(({ metadata }) => metadata.uid));
  const suspects = [...projects].filter((uid) => !cached.has(uid));
  if (suspects.length === 0) return true;
  const { items } = await client.listAll(namespaces);
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  const gone = suspects.filter((uid) => !there.has(uid));
  // The accounts first: their runners could write what was removed just now.
  for (const project of gone)
    if ((await dropPoolAccount(conn, project)).outcome === 'unavailable') return false;
  const closed = gone.length === 0 ? undefined : await closeProjects(conn, gone, removing);
  if (closed?.outcome === 'unavailable') return false;
  for (const project of gone) {
    store.forget(project);
    log.info({ project }, 'removed what the run store held of a namespace that is gone');
  }
  return true;
}

/** Those that do not exist any more are deleted in the background. */
async function noteWorkflows(
  { client, caches, store }: SweepContext,
  project: ProjectUid,
  seen: ReadonlySet<string>,
): Promise<void> {
  const namespace = caches.namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  if (namespace === undefined) return;
  const cached = new Set(caches.workflows.list(namespace).map(({ metadata }) => metadata.uid));
  const suspects = [...seen].filter((uid) => !cached.has(uid));
  if (suspects.length === 0) return;
  const { items } = await client.listAll(workflows, { namespace });
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  for (const workflowUid of suspects.filter((uid) => !there.has(uid)))
    store.noteDeleted({ project, workflowUid, name: '' });
}
