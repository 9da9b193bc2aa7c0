/**
 * What the run store must hold before a workflow's route opens: the project's place, the revision and the limits. What
 * was put is remembered with the id of the store's data, so that a reconcile that changes nothing sends nothing, and a
 * store that was wiped gets all of it again.
 */
import type { Revision } from '../../api/revision.ts';
import { canonicalJson } from '../../kube/apply.ts';
import type { RunStoreConnection } from '../../runs/connection.ts';
import { dropWorkflow, openProject, putRevision, setWorkflowLimits } from '../../runs/project.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from '../../runs/types.ts';

export type StoredWorkflow = { revision: { name: string; revision: Revision }; limits: WorkflowLimits };

export type ProjectStore = {
  /** Puts what runs of the workflow need, unless it is there. */
  putWorkflow(project: ProjectUid, workflow: StoredWorkflow): Promise<{ outcome: 'done' } | Unavailable>;
  /** Takes the limits of a workflow that is gone out again: now, or with a later `check` when the store is away. */
  dropWorkflow(project: ProjectUid, workflowUid: string): Promise<void>;
  /** Looks whether the project's data is still that of last time; makes its place anew if it is gone. */
  check(project: ProjectUid): Promise<{ outcome: 'done'; lost: boolean } | Unavailable>;
  /** Forgets a project that is closed. */
  forget(project: ProjectUid): void;
};

type Project = {
  id: string;
  /** By the workflow's uid: what was put, as text. */
  put: Map<string, string>;
};

export function createProjectStore(conn: RunStoreConnection): ProjectStore {
  const projects = new Map<ProjectUid, Project>();
  const toDrop = new Map<ProjectUid, Set<string>>();

  async function open(project: ProjectUid): Promise<{ outcome: 'done'; lost: boolean } | Unavailable> {
    const opened = await openProject(conn, project);
    if (opened.outcome === 'unavailable') return opened;
    const before = projects.get(project);
    if (before?.id === opened.id) return { outcome: 'done', lost: false };
    projects.set(project, { id: opened.id, put: new Map() });
    return { outcome: 'done', lost: before !== undefined };
  }

  async function put(
    project: ProjectUid,
    workflow: StoredWorkflow,
  ): Promise<{ outcome: 'done' } | Unavailable> {
    const { name, revision } = workflow.revision;
    const stored = await putRevision(conn, project, name, revision);
    return stored.outcome === 'done' ? setWorkflowLimits(conn, project, workflow.limits) : stored;
  }

  async function drop(project: ProjectUid): Promise<void> {
    const workflows = toDrop.get(project) ?? new Set();
    for (const uid of workflows) {
      if ((await dropWorkflow(conn, project, uid)).outcome === 'unavailable') return;
      workflows.delete(uid);
      projects.get(project)?.put.delete(uid);
    }
    toDrop.delete(project);
  }

  return {
    putWorkflow: async (project, workflow) => {
      const text = canonicalJson({ revision: workflow.revision.name, limits: workflow.limits });
      if (projects.get(project)?.put.get(workflow.limits.workflowUid) === text) return { outcome: 'done' };
      const opened = projects.has(project) ? undefined : await open(project);
      if (opened?.outcome === 'unavailable') return opened;
      const result = await put(project, workflow);
      if (result.outcome === 'done') projects.get(project)?.put.set(workflow.limits.workflowUid, text);
      // It was wiped since it was opened: the next attempt opens it again.
      else if (result.why === 'no-store') projects.delete(project);
      return result;
    },
    dropWorkflow: async (project, workflowUid) => {
      toDrop.set(project, (toDrop.get(project) ?? new Set()).add(workflowUid));
      await drop(project);
    },
    check: async (project) => {
      const opened = await open(project);
      if (opened.outcome === 'done') await drop(project);
      return opened;
    },
    forget: (project) => {
      projects.delete(project);
      toDrop.delete(project);
    },
  };
}
