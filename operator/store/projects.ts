/**
 * What the run store must hold before a workflow's route opens: the project's place, the revision and the limits. What
 * was put is remembered with the id of the store's data, so that a reconcile that changes nothing sends nothing. A store
 * that was wiped is seeded (`seed.ts`) before it has its place, since runs enter from then on.
 */
import type { Revision } from '../../api/revision.ts';
import { cancelRun } from '../../runs/cancel.ts';
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';
import { dropTrigger, type PolledTrigger } from '../../runs/polling/triggers.ts';
import { dropWorkflow, liveRuns, storeId } from '../../runs/project.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from '../../runs/types.ts';
import { nothingPut, putsOf, triggersOf, type Project } from './puts.ts';
import { seedProject, seedWorkflows, type SeedSource } from './seed.ts';

export type NamedRevision = { name: string; revision: Revision };

export type StoredWorkflow = { revision: NamedRevision; limits: WorkflowLimits };

export type Done = { outcome: 'done' } | Unavailable;

export type ProjectStore = {
  /** Puts what runs of the workflow need, unless it is there. */
  putWorkflow(project: ProjectUid, workflow: StoredWorkflow): Promise<Done>;
  /** Puts the limits of a workflow alone, and with them whether it is suspended, unless they are there. */
  putLimits(project: ProjectUid, limits: WorkflowLimits): Promise<Done>;
  /** Has the workflow's trigger looked at, or none of it where there is no such trigger, unless that is so already. */
  putTrigger(project: ProjectUid, workflowUid: string, trigger: PolledTrigger | undefined): Promise<Done>;
  /** Cancels the runs of a workflow that is gone and forgets it: now, or as far as that is not possible, with a `check`. */
  dropWorkflow(project: ProjectUid, workflowUid: string): Promise<void>;
  /** Remembers that a workflow is gone: the next `check` cancels its runs and forgets it. */
  noteGone(project: ProjectUid, workflowUid: string): void;
  /** Whether runs of workflows that are gone have not ended yet. */
  isDraining(project: ProjectUid): boolean;
  /** Gives the project its place, with all that is known of it, if it has none. */
  open(project: ProjectUid): Promise<Done>;
  /** Opens the project if it has no place. `lost`: there was one, and it has been gone since the last call. */
  check(project: ProjectUid): Promise<{ outcome: 'done'; lost: boolean } | Unavailable>;
  /** The server may have lost the end of its log: everything that was put is put again by the next look at each project. */
  doubt(): void;
  /** Forgets a project that is closed. */
  forget(project: ProjectUid): void;
};

/** `source` gives what a store that lost its data gets back before it accepts events again. */
export function createProjectStore(conn: RunStoreConnection, source: SeedSource): ProjectStore {
  const projects = new Map<ProjectUid, Project>();
  const opening = new Map<ProjectUid, Promise<Done>>();
  const going = new Map<ProjectUid, Set<string>>();
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
    const seeded = await seedProject(conn, project, source);
    if (seeded.outcome === 'unavailable') return seeded;
    const { id, keys, runs, workflows } = seeded;
    // A project that is new has lost nothing.
    if (before !== undefined || keys + runs + workflows > 0) lost.add(project);
    projects.set(project, { id, doubts, ...nothingPut() });
    return { outcome: 'done' };
  }

  async function dropGoing(project: ProjectUid): Promise<void> {
    const workflows = going.get(project) ?? new Set();
    for (const uid of workflows) {
      for (const put of putOf(projects.get(project))) put.delete(uid);
      if (await drop(conn, project, uid)) workflows.delete(uid);
    }
    if (workflows.size === 0) going.delete(project);
  }

  function noteGone(project: ProjectUid, workflowUid: string): void {
    going.set(project, (going.get(project) ?? new Set()).add(workflowUid));
  }

  return {
    ...putsOf(conn, {
      of: (project) => projects.get(project),
      open,
      opening: (project) => opening.get(project),
      noteWiped: (project) => projects.set(project, { id: undefined, doubts, ...nothingPut() }),
    }),
    putTrigger: triggersOf(conn, { of: (project) => projects.get(project), open }),
    noteGone,
    open,
    dropWorkflow: async (project, workflowUid) => {
      noteGone(project, workflowUid);
      await dropGoing(project);
    },
    isDraining: (project) => going.has(project),
    check: async (project) => {
      const opened = await open(project);
      if (opened.outcome === 'unavailable') return opened;
      await dropGoing(project);
      return { outcome: 'done', lost: lost.delete(project) };
    },
    doubt: () => void (doubts += 1),
    forget: (project) => {
      projects.delete(project);
      going.delete(project);
    },
  };
}

/** What is remembered of workflows, by uid. */
function putOf(project: Project | undefined): { delete(uid: string): unknown }[] {
  return project ? [project.put, project.triggers] : [];
}

/** Cancels the runs of a workflow and forgets it. True when nothing of it is left. */
async function drop(conn: RunStoreConnection, project: ProjectUid, workflowUid: string): Promise<boolean> {
  // First, or it would start further runs.
  if ((await dropTrigger(conn, project, workflowUid)).outcome !== 'done') return false;
  const live = await liveRuns(conn, project, workflowUid);
  if (!Array.isArray(live)) return false;
  const ends = await Promise.all(live.map((run) => cancelRun(conn, project, run)));
  if (ends.some(({ outcome }) => outcome === 'requested' || outcome === 'unavailable')) return false;
  return (await dropWorkflow(conn, project, workflowUid)).outcome === 'done';
}
