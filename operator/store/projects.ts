/**
 * What the run store must hold before a workflow's route opens: the project's place, the revision and the limits. What
 * was put is remembered with the id of the store's data, so that a reconcile that changes nothing sends nothing. A store
 * that was wiped gets all of it again: the revisions before the project has its place, since runs enter from then on.
 */
import type { Revision } from '../../api/revision.ts';
import { canonicalJson } from '../../kube/apply.ts';
import { cancelRun } from '../../runs/cancel.ts';
import type { RunStoreConnection } from '../../runs/connection.ts';
import { dropWorkflow, liveRuns, openProject, putRevision, setWorkflowLimits } from '../../runs/project.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from '../../runs/types.ts';

export type NamedRevision = { name: string; revision: Revision };

type StoredWorkflow = { revision: NamedRevision; limits: WorkflowLimits };

/** What a route serves: its revision, and the limits of its workflow where that exists. */
export type ServedWorkflow = { revision: NamedRevision; limits?: WorkflowLimits };

type Done = { outcome: 'done' } | Unavailable;

export type ProjectStore = {
  /** Puts what runs of the workflow need, unless it is there. */
  putWorkflow(project: ProjectUid, workflow: StoredWorkflow): Promise<Done>;
  /** Cancels the runs of a workflow that is gone and forgets it: now, or as far as that is not possible, with a `check`. */
  dropWorkflow(project: ProjectUid, workflowUid: string): Promise<void>;
  /** Remembers that a workflow is gone: the next `check` cancels its runs and forgets it. */
  noteGone(project: ProjectUid, workflowUid: string): void;
  /** Whether runs of workflows that are gone have not ended yet. */
  isDraining(project: ProjectUid): boolean;
  /** Makes the project's place if there is none. `lost`: there was one, and it has been gone since the last call. */
  check(project: ProjectUid): Promise<{ outcome: 'done'; lost: boolean } | Unavailable>;
  /** Forgets a project that is closed. */
  forget(project: ProjectUid): void;
};

type Project = {
  /** Of the store's data; undefined when they were found to be gone. */
  id: string | undefined;
  /** By the workflow's uid: what was put, as text and as limits. */
  put: Map<string, { text: string; limits: WorkflowLimits }>;
};

/**
 * `served` gives what the project's routes serve: the revisions are in the store before it accepts events, because a
 * wiped store is open to the gateway and to runners again as soon as the project has its place. The limits need that
 * place, and follow at once.
 */
export function createProjectStore(
  conn: RunStoreConnection,
  served: (project: ProjectUid) => Promise<ServedWorkflow[]>,
): ProjectStore {
  const projects = new Map<ProjectUid, Project>();
  const going = new Map<ProjectUid, Set<string>>();
  const lost = new Set<ProjectUid>();

  async function seedAll(project: ProjectUid): Promise<Done> {
    const workflows = await served(project);
    const seeded = await seedRevisions(conn, project, workflows);
    return seeded.outcome === 'done' ? seedLimits(conn, project, workflows) : seeded;
  }

  async function open(project: ProjectUid): Promise<Done> {
    const before = projects.get(project);
    const gone = before?.id === undefined || (await isGone(conn, project, before));
    if (typeof gone === 'object') return gone;
    const workflows = gone ? await served(project) : [];
    const seeded = await seedRevisions(conn, project, workflows);
    if (seeded.outcome === 'unavailable') return seeded;
    const opened = await openProject(conn, project);
    if (opened.outcome === 'unavailable') return opened;
    if (before?.id === opened.id) return { outcome: 'done' };
    // Where an operator that has just started finds routes without a place, the store was wiped before it came.
    if (before !== undefined || (opened.fresh && workflows.length > 0)) lost.add(project);
    // Other data came since the look above: what was served has to be put there at once.
    const limited = gone ? await seedLimits(conn, project, workflows) : await seedAll(project);
    const id = limited.outcome === 'done' ? opened.id : undefined;
    projects.set(project, { id, put: new Map() });
    return limited;
  }

  async function putWorkflow(project: ProjectUid, { revision, limits }: StoredWorkflow): Promise<Done> {
    const text = canonicalJson({ revision: revision.name, limits });
    if (projects.get(project)?.put.get(limits.workflowUid)?.text === text) return { outcome: 'done' };
    const isOpen = projects.get(project)?.id !== undefined;
    const opened = isOpen ? undefined : await open(project);
    if (opened?.outcome === 'unavailable') return opened;
    // Nobody repeats older limits while these are on their way.
    projects.get(project)?.put.delete(limits.workflowUid);
    const stored = await putRevision(conn, project, revision.name, revision.revision);
    const result = stored.outcome === 'done' ? await setWorkflowLimits(conn, project, limits) : stored;
    if (result.outcome === 'done') projects.get(project)?.put.set(limits.workflowUid, { text, limits });
    // It was wiped since it was opened: the next attempt opens it again.
    else if (result.why === 'no-store') projects.set(project, { id: undefined, put: new Map() });
    return result;
  }

  /** True when nothing of the workflow is left. */
  async function drop(project: ProjectUid, workflowUid: string): Promise<boolean> {
    const live = await liveRuns(conn, project, workflowUid);
    if (!Array.isArray(live)) return false;
    const ends = await Promise.all(live.map((run) => cancelRun(conn, project, run)));
    if (ends.some(({ outcome }) => outcome === 'requested' || outcome === 'unavailable')) return false;
    return (await dropWorkflow(conn, project, workflowUid)).outcome === 'done';
  }

  async function dropGoing(project: ProjectUid): Promise<void> {
    const workflows = going.get(project) ?? new Set();
    for (const uid of workflows) {
      projects.get(project)?.put.delete(uid);
      if (await drop(project, uid)) workflows.delete(uid);
    }
    if (workflows.size === 0) going.delete(project);
  }

  function noteGone(project: ProjectUid, workflowUid: string): void {
    going.set(project, (going.get(project) ?? new Set()).add(workflowUid));
  }

  return {
    putWorkflow,
    noteGone,
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
    forget: (project) => {
      projects.delete(project);
      going.delete(project);
    },
  };
}

async function seedRevisions(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflows: readonly ServedWorkflow[],
): Promise<Done> {
  for (const { revision } of workflows) {
    const put = await putRevision(conn, project, revision.name, revision.revision);
    if (put.outcome === 'unavailable') return put;
  }
  return { outcome: 'done' };
}

async function seedLimits(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflows: readonly ServedWorkflow[],
): Promise<Done> {
  for (const { limits } of workflows) {
    const set = limits ? await setWorkflowLimits(conn, project, limits) : undefined;
    if (set?.outcome === 'unavailable') return set;
  }
  return { outcome: 'done' };
}

/** Whether a project that was open has lost its place; asking does not give it one. */
async function isGone(
  conn: RunStoreConnection,
  project: ProjectUid,
  { put }: Project,
): Promise<boolean | Unavailable> {
  const [known] = put.values();
  if (!known) return false;
  const asked = await setWorkflowLimits(conn, project, known.limits);
  if (asked.outcome === 'done') return false;
  return asked.why === 'no-store' ? true : asked;
}
