/**
 * Stores what the run store needs before a workflow's route opens: the project, the revision and the limits.
 * What was stored is remembered with the ID of the store's data, so that a reconcile that changes nothing
 * sends nothing. A wiped store is seeded (`seed.ts`) before it is open, since runs are accepted from then on.
 */
import { systemClock, type Clock } from '../../kube/clock.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { storeId } from '../../runs/project.ts';
import type { GoneWorkflow } from './workflowDeletion.ts';
import { createDeletions } from './deletionQueue.ts';
import { forgetWorkflow, memoryOf, nothingPut, putsOf, triggersOf, type Project } from './puts.ts';
import { newSeedProgress, seedProject, seedWorkflows, type SeedProgress, type SeedSource } from './seed.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { Done, ProjectStore } from './types.ts';

/** `source` provides what a store that lost its data gets before it accepts events again. */
export function createProjectStore(
  conn: RunStoreConnection,
  source: SeedSource,
  { clock = systemClock, pageSize }: { clock?: Clock; pageSize?: number } = {},
): ProjectStore {
  const deletions = createDeletions({ conn, clock, ...(pageSize !== undefined && { pageSize }) });
  const projects = new Map<ProjectUid, Project>();
  const opening = new Map<ProjectUid, Promise<Done>>();
  /** Interrupted seedings. */
  const seedings = new Map<ProjectUid, SeedProgress>();
  const lost = new Set<ProjectUid>();
  let invalidations = 0;

  /** Single flight: two attempts in one process would prevent each other from finishing. */
  function open(project: ProjectUid): Promise<Done> {
    const running = opening.get(project);
    if (running) return running;
    const attempt = tryOpen(project).finally(() => opening.delete(project));
    opening.set(project, attempt);
    return attempt;
  }

  async function tryOpen(project: ProjectUid): Promise<Done> {
    const before = projects.get(project);
    const id = await storeId(conn, project);
    if (isUnavailable(id)) return id;
    if (id === undefined) return seed(project, before);
    const since = invalidations;
    if (before?.id === id && before.invalidations === since) return { outcome: 'done' };
    // The store has other data than before, or less: served workflows must be stored at once.
    const put = before && (await seedWorkflows(conn, project, await source.served(project)));
    if (put?.outcome === 'unavailable') return put;
    if (before && before.id !== id) lost.add(project);
    projects.set(project, { id, invalidations: since, ...nothingPut() });
    return { outcome: 'done' };
  }

  async function seed(project: ProjectUid, before: Project | undefined): Promise<Done> {
    const progress = seedings.get(project) ?? newSeedProgress();
    seedings.set(project, progress);
    const seeded = await seedProject(conn, project, source, progress);
    if (seeded.outcome === 'unavailable') return seeded;
    seedings.delete(project);
    const { id, keys, runs, workflows } = seeded;
    // A new project has lost nothing.
    if (before !== undefined || keys + runs + workflows > 0) lost.add(project);
    projects.set(project, { id, invalidations, ...nothingPut() });
    return { outcome: 'done' };
  }

  /** Forgets what was stored of the workflow. */
  function forgetPut({ project, workflowUid }: GoneWorkflow): void {
    forgetWorkflow(projects.get(project), workflowUid);
  }

  return {
    ...putsOf(conn, {
      of: (project) => projects.get(project),
      open,
      opening: (project) => opening.get(project),
      noteWiped: (project) => projects.set(project, { id: undefined, invalidations, ...nothingPut() }),
    }),
    ...memoryOf(conn, (project) => projects.get(project)),
    putTrigger: triggersOf(conn, { of: (project) => projects.get(project), open }),
    open,
    deleteWorkflow: async (workflow) => {
      forgetPut(workflow);
      await deletions.begin(workflow);
    },
    noteDeleted: (workflow) => {
      forgetPut(workflow);
      deletions.note(workflow);
    },
    deletions,
    check: async (project) => {
      const opened = await open(project);
      if (opened.outcome === 'unavailable') return opened;
      return { outcome: 'done', lost: lost.delete(project) };
    },
    invalidateAll: () => void (invalidations += 1),
    forget: (project) => {
      projects.delete(project);
      seedings.delete(project);
      deletions.forget(project);
    },
  };
}
