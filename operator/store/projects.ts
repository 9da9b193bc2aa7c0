/**
 * What the run store must hold before a workflow's route opens: the project's place, the revision and the limits. What
 * was put is remembered with the id of the store's data, so that a reconcile that changes nothing sends nothing. A store
 * that was wiped is seeded (`seed.ts`) before it has its place, since runs enter from then on.
 */
import type { Revision } from '../../api/revision.ts';
import { systemClock, type Clock } from '../../kube/clock.ts';
import { isUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import type { PolledTrigger } from '../../store/polling/triggers.ts';
import { storeId } from '../../runs/project.ts';
import type { VariableValues } from '../../runs/variables.ts';
import type { WorkflowLimits } from '../../runs/types.ts';
import type { GoneWorkflow } from './deletion.ts';
import { createDeletions, type Deletions } from './deletions.ts';
import { forgetWorkflow, memoryOf, nothingPut, putsOf, triggersOf, type Project } from './puts.ts';
import { newSeedProgress, seedProject, seedWorkflows, type SeedProgress, type SeedSource } from './seed.ts';
import type { ProjectUid } from '../../store/keys.ts';

export type NamedRevision = { name: string; revision: Revision };

export type StoredWorkflow = { revision: NamedRevision; limits: WorkflowLimits };

export type Done = { outcome: 'done' } | Unavailable;

export type ProjectStore = {
  /** Puts what runs of the workflow need, unless it is there. */
  putWorkflow(project: ProjectUid, workflow: StoredWorkflow): Promise<Done>;
  /** Puts the limits of a workflow alone, and with them whether it is suspended, unless they are there. */
  putLimits(project: ProjectUid, limits: WorkflowLimits): Promise<Done>;
  /** Puts the variables of the project, unless they are there, and removes those that no run uses any more. */
  putVariables(project: ProjectUid, values: VariableValues): Promise<Done>;
  /** Has the workflow's trigger looked at, or none of it where there is no such trigger, unless that is so already. */
  putTrigger(project: ProjectUid, workflowUid: string, trigger: PolledTrigger | undefined): Promise<Done>;
  /** Has no run of a workflow that is gone start any more, or as soon as the run store is back. Its runs go in the background. */
  deleteWorkflow(workflow: GoneWorkflow): Promise<void>;
  /** Remembers that a workflow is gone. */
  noteGone(workflow: GoneWorkflow): void;
  /** The workflows that are gone and whose runs are not yet. */
  deletions: Pick<Deletions, 'isUnderWay' | 'list' | 'resume' | 'run'>;
  /** Gives the project its place, with all that is known of it, if it has none. */
  open(project: ProjectUid): Promise<Done>;
  /** Opens the project if it has no place. `lost`: there was one, and it has been gone since the last call. */
  check(project: ProjectUid): Promise<{ outcome: 'done'; lost: boolean } | Unavailable>;
  /** Whether limits of the workflow were put, and nothing is known to have removed them. */
  hasLimits(project: ProjectUid, workflowUid: string): boolean;
  /**
   * Limits of this workflow are missing: what was put of it is put again by its next reconcile. False where the store has not the data
   * that it was put into: then everything is put back anyway.
   */
  invalidate(project: ProjectUid, workflowUid: string): Promise<boolean>;
  /** The server may have lost the end of its log: everything that was put is put again by the next look at each project. */
  doubt(): void;
  /** Forgets a project that is closed. */
  forget(project: ProjectUid): void;
};

/** `source` gives what a store that lost its data gets back before it accepts events again. */
export function createProjectStore(
  conn: RunStoreConnection,
  source: SeedSource,
  { clock = systemClock, pageSize }: { clock?: Clock; pageSize?: number } = {},
): ProjectStore {
  const deletions = createDeletions({ conn, clock, ...(pageSize !== undefined && { pageSize }) });
  const projects = new Map<ProjectUid, Project>();
  const opening = new Map<ProjectUid, Promise<Done>>();
  /** Those that broke off. */
  const seedings = new Map<ProjectUid, SeedProgress>();
  const lost = new Set<ProjectUid>();
  let doubts = 0;

  /** Two at once in one process would only keep each other from coming to an end. */
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
    const since = doubts;
    if (before?.id === id && before.doubts === since) return { outcome: 'done' };
    // The store has other data than before, or less: what is served has to be there at once.
    const put = before && (await seedWorkflows(conn, project, await source.served(project)));
    if (put?.outcome === 'unavailable') return put;
    if (before && before.id !== id) lost.add(project);
    projects.set(project, { id, doubts: since, ...nothingPut() });
    return { outcome: 'done' };
  }

  async function seed(project: ProjectUid, before: Project | undefined): Promise<Done> {
    const progress = seedings.get(project) ?? newSeedProgress();
    seedings.set(project, progress);
    const seeded = await seedProject(conn, project, source, progress);
    if (seeded.outcome === 'unavailable') return seeded;
    seedings.delete(project);
    const { id, keys, runs, workflows } = seeded;
    // A project that is new has lost nothing.
    if (before !== undefined || keys + runs + workflows > 0) lost.add(project);
    projects.set(project, { id, doubts, ...nothingPut() });
    return { outcome: 'done' };
  }

  /** What was put of it is forgotten with it. */
  function forgetPut({ project, workflowUid }: GoneWorkflow): void {
    forgetWorkflow(projects.get(project), workflowUid);
  }

  return {
    ...putsOf(conn, {
      of: (project) => projects.get(project),
      open,
      opening: (project) => opening.get(project),
      noteWiped: (project) => projects.set(project, { id: undefined, doubts, ...nothingPut() }),
    }),
    ...memoryOf(conn, (project) => projects.get(project)),
    putTrigger: triggersOf(conn, { of: (project) => projects.get(project), open }),
    open,
    deleteWorkflow: async (workflow) => {
      forgetPut(workflow);
      await deletions.begin(workflow);
    },
    noteGone: (workflow) => {
      forgetPut(workflow);
      deletions.note(workflow);
    },
    deletions,
    check: async (project) => {
      const opened = await open(project);
      if (opened.outcome === 'unavailable') return opened;
      return { outcome: 'done', lost: lost.delete(project) };
    },
    doubt: () => void (doubts += 1),
    forget: (project) => {
      projects.delete(project);
      seedings.delete(project);
      deletions.forget(project);
    },
  };
}
