/**
 * Puts revisions, limits and polled triggers of workflows into the run store, and remembers by project what was put last, so that a
 * reconcile that changes nothing sends nothing.
 */
import { canonicalJson } from '../../kube/json.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { dropTrigger, putTrigger } from '../../store/polling/triggers.ts';
import { putRevision } from '../../runs/revisions.ts';
import { setWorkflowLimits } from '../../runs/limits.ts';
import { storeId } from '../../runs/project.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { WorkflowLimits } from '../../runs/types.ts';
import type { Done, ProjectStore, StoredWorkflow } from './types.ts';

/** The name of the revision, and the limits as text. */
type Put = { revision?: string; limits?: string };

export type Project = {
  /** Of the store's data; undefined when they were found to be gone. */
  id: string | undefined;
  /** How often everything had been invalidated when this was put. */
  invalidations: number;
  /** By the workflow's uid: what was put. */
  put: Map<string, Put>;
  /** By the workflow's uid: the polled trigger that was put, as text; empty where there is none. */
  triggers: Map<string, string>;
};

/** Of a project whose data were lost, or are not known. */
export const nothingPut = (): Pick<Project, 'put' | 'triggers'> => ({ put: new Map(), triggers: new Map() });

type Memory = {
  of(project: ProjectUid): Project | undefined;
  open(project: ProjectUid): Promise<Done>;
  opening(project: ProjectUid): Promise<Done> | undefined;
  /** It was wiped since it was opened: the next attempt opens it again. */
  noteWiped(project: ProjectUid): void;
};

/** Puts revisions and limits, unless that was done last. */
export function putsOf(
  conn: RunStoreConnection,
  memory: Memory,
): Pick<ProjectStore, 'putWorkflow' | 'putLimits'> {
  const putIn = async (project: ProjectUid, put: () => Promise<Done>): Promise<Done> => {
    const opened = memory.of(project)?.id === undefined ? await memory.open(project) : undefined;
    if (opened?.outcome === 'unavailable') return opened;
    const result = await put();
    if (result.outcome === 'unavailable' && result.why === 'no-store') memory.noteWiped(project);
    return result;
  };

  const remember = (project: ProjectUid, workflowUid: string, what: Put): void => {
    const put = memory.of(project)?.put;
    put?.set(workflowUid, { ...put.get(workflowUid), ...what });
  };

  async function putLimits(project: ProjectUid, limits: WorkflowLimits): Promise<Done> {
    const { workflowUid } = limits;
    // What a seeding puts back was read before these limits, and must not come after them.
    await memory.opening(project)?.catch(() => undefined);
    const text = canonicalJson(limits);
    if (memory.of(project)?.put.get(workflowUid)?.limits === text) return { outcome: 'done' };
    const result = await putIn(project, () => {
      // Nobody takes older limits for those in the store while these are on their way.
      memory.of(project)?.put.delete(workflowUid);
      return setWorkflowLimits(conn, project, limits);
    });
    if (result.outcome === 'done') remember(project, workflowUid, { limits: text });
    return result;
  }

  async function putWorkflow(project: ProjectUid, { revision, limits }: StoredWorkflow): Promise<Done> {
    const { workflowUid } = limits;
    const { name } = revision;
    if (memory.of(project)?.put.get(workflowUid)?.revision !== name) {
      memory.of(project)?.put.delete(workflowUid);
      const stored = await putIn(project, () => putRevision(conn, project, name, revision.revision));
      if (stored.outcome === 'unavailable') return stored;
    }
    const result = await putLimits(project, limits);
    if (result.outcome === 'done') remember(project, workflowUid, { revision: name });
    return result;
  }

  return { putWorkflow, putLimits };
}

/** Puts polled triggers, or drops them, unless that was done last. */
export function triggersOf(
  conn: RunStoreConnection,
  { of: projectOf, open }: Pick<Memory, 'of' | 'open'>,
): ProjectStore['putTrigger'] {
  return async (project, workflowUid, trigger) => {
    const text = trigger ? canonicalJson(trigger) : '';
    if (projectOf(project)?.triggers.get(workflowUid) === text) return { outcome: 'done' };
    const opened = projectOf(project)?.id === undefined ? await open(project) : undefined;
    if (opened?.outcome === 'unavailable') return opened;
    projectOf(project)?.triggers.delete(workflowUid);
    const result = trigger
      ? await putTrigger(conn, project, trigger)
      : await dropTrigger(conn, project, workflowUid);
    if (result.outcome === 'done') projectOf(project)?.triggers.set(workflowUid, text);
    return result;
  };
}

/** What is known of limits that were put. */
export function memoryOf(
  conn: RunStoreConnection,
  projectOf: Memory['of'],
): Pick<ProjectStore, 'hasLimits' | 'invalidate'> {
  return {
    hasLimits: (project, workflowUid) => projectOf(project)?.put.get(workflowUid)?.limits !== undefined,
    invalidate: async (project, workflowUid) => {
      const id = await storeId(conn, project);
      const known = projectOf(project);
      if (isUnavailable(id) || id === undefined || id !== known?.id) return false;
      forgetWorkflow(known, workflowUid);
      return true;
    },
  };
}

/** Forgets what was put of a workflow. */
export function forgetWorkflow(project: Project | undefined, workflowUid: string): void {
  project?.put.delete(workflowUid);
  project?.triggers.delete(workflowUid);
}
