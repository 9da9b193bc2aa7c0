/**
 * Removes orphaned data from the run store: projects whose namespace was deleted, with their accounts, and
 * workflows that were deleted while no operator ran. The API server confirms every candidate.
 */
import { namespaces } from '../../kube/resource.ts';
import { isUnavailable, orUnavailable } from '../../store/connection.ts';
import { projectOfKey, workflowOfKey, type ProjectUid } from '../../store/keys.ts';
import { forEachPage, newScan, type Scan } from '../../store/scan.ts';
import { closeProjects } from '../../runs/project.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { ProjectStore } from './types.ts';
import { workflows } from '../shared/resources.ts';

type SweepContext = Pick<OperatorContext, 'accounts' | 'client' | 'caches' | 'conn' | 'log' | 'config'> & {
  store: Pick<ProjectStore, 'forget' | 'noteDeleted'>;
};

/** The findings and the progress of one sweep: through all keys, then through those of deleted projects. */
type Sweep = {
  projects: Set<ProjectUid>;
  workflows: Map<ProjectUid, Set<string>>;
  scanning: Scan;
  isScanned: boolean;
  removing: Scan;
};

export type Sweeper = {
  /**
   * Scans all keys once. `pause` is called after each page of 500. False if the run store could not be
   * reached: the next call continues.
   */
  sweep(pause: () => Promise<void>): Promise<boolean>;
};

const newSweep = (): Sweep => ({
  projects: new Set(),
  workflows: new Map(),
  scanning: newScan(),
  isScanned: false,
  removing: newScan(),
});

/** Creates the sweeper. It remembers only an interrupted sweep. */
export function createSweeper(context: SweepContext): Sweeper {
  let current = newSweep();
  return {
    sweep: async (pause) => {
      if (!current.isScanned && isUnavailable(await orUnavailable(() => scanKeys(context, current, pause))))
        return false;
      // An operator of some namespaces cannot know the projects of others.
      const isOverAll = context.config.WATCH_NAMESPACES.length === 0;
      if (isOverAll && !(await dropProjects(context, current))) return false;
      for (const [project, uids] of current.workflows) await noteWorkflows(context, project, uids);
      current = newSweep();
      return true;
    },
  };
}

async function scanKeys(
  { accounts, conn }: SweepContext,
  sweep: Sweep,
  pause: () => Promise<void>,
): Promise<void> {
  for (const project of await accounts.projects()) sweep.projects.add(project);
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
  await forEachPage(conn, 'wl:*', visit, sweep.scanning);
  sweep.isScanned = true;
}

/** False if the run store could not be reached. */
async function dropProjects(context: SweepContext, { projects, removing }: Sweep): Promise<boolean> {
  const { accounts, client, caches, conn, store, log } = context;
  const cached = new Set(caches.namespaces.list().map(({ metadata }) => metadata.uid));
  const candidates = [...projects].filter((uid) => !cached.has(uid));
  if (candidates.length === 0) return true;
  const { items } = await client.listAll(namespaces);
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  const gone = candidates.filter((uid) => !there.has(uid));
  // The accounts first: their runners could write removed keys again.
  for (const project of gone) if ((await accounts.drop(project)).outcome === 'unavailable') return false;
  const closed = gone.length === 0 ? undefined : await closeProjects(conn, gone, removing);
  if (closed?.outcome === 'unavailable') return false;
  for (const project of gone) {
    store.forget(project);
    log.info({ project }, 'removed the data of a deleted project');
  }
  return true;
}

/** Workflows that no longer exist are deleted in the background. */
async function noteWorkflows(
  { client, caches, store }: SweepContext,
  project: ProjectUid,
  seen: ReadonlySet<string>,
): Promise<void> {
  const namespace = caches.namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  if (namespace === undefined) return;
  const cached = new Set(caches.workflows.list(namespace).map(({ metadata }) => metadata.uid));
  const candidates = [...seen].filter((uid) => !cached.has(uid));
  if (candidates.length === 0) return;
  const { items } = await client.listAll(workflows, { namespace });
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  for (const workflowUid of candidates.filter((uid) => !there.has(uid)))
    store.noteDeleted({ project, workflowUid, name: '' });
}
