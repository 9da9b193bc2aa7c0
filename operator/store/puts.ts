/**
 * Stores revisions, limits and polled triggers of workflows in the run store, and remembers by project what
 * was stored last, so that a reconcile that changes nothing sends nothing.
 */
import { canonicalJson } from '../../kube/json.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { dropTrigger, putTrigger } from '../../store/polling/triggers.ts';
import { putCallee } from '../../runs/callees.ts';
import { putRevision } from '../../runs/revisions.ts';
import { dropUnusedVariables, putVariables, type VariableValues } from '../../runs/variables.ts';
import { setWorkflowLimits } from '../../runs/limits.ts';
import { storeId } from '../../runs/project.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { WorkflowLimits } from '../../runs/types/limits.ts';
import type { Done, ProjectStore, StoredWorkflow } from './types.ts';

/** The name of the revision, the description of the workflow, and the limits as text. */
type Put = { revision?: string; description?: string; limits?: string };

export type Project = {
  /** The variables that were put, as text. */
  variables?: string;
  /** The ID of the store's data; undefined when it was found to be lost. */
  id: string | undefined;
  /** How often everything had been invalidated when this was put. */
  invalidations: number;
  /** By the workflow's uid: what was stored. */
  put: Map<string, Put>;
  /** By the workflow's uid: the polled trigger that was stored, as text; empty if there is none. */
  triggers: Map<string, string>;
};

/** The state of a project whose data was lost or is unknown. */
export const nothingPut = (): Pick<Project, 'put' | 'triggers'> => ({ put: new Map(), triggers: new Map() });

type Memory = {
  of(project: ProjectUid): Project | undefined;
  open(project: ProjectUid): Promise<Done>;
  opening(project: ProjectUid): Promise<Done> | undefined;
  /** Notes that the project was wiped: the next attempt opens it again. */
  noteWiped(project: ProjectUid): void;
};

/** Stores revisions and limits, unless they were stored last. */
export function putsOf(
  conn: RunStoreConnection,
  memory: Memory,
): Pick<ProjectStore, 'putWorkflow' | 'putLimits' | 'putVariables'> {
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
    // A seeding in progress has read older limits, and must not overwrite these.
    await memory.opening(project)?.catch(() => undefined);
    const text = canonicalJson(limits);
    if (memory.of(project)?.put.get(workflowUid)?.limits === text) return { outcome: 'done' };
    const result = await putIn(project, () => {
      // While the write is in progress, the stored limits are unknown.
      memory.of(project)?.put.delete(workflowUid);
      return setWorkflowLimits(conn, project, limits);
    });
    if (result.outcome === 'done') remember(project, workflowUid, { limits: text });
    return result;
  }

  async function putWorkflow(
    project: ProjectUid,
    { name: workflow, revision, description = '', limits }: StoredWorkflow,
  ): Promise<Done> {
    const { workflowUid } = limits;
    const { name } = revision;
    const known = memory.of(project)?.put.get(workflowUid);
    const isNew = known?.revision !== name;
    const isDescribed = known?.description === description;
    if (isNew) {
      memory.of(project)?.put.delete(workflowUid);
      const stored = await putIn(project, () => putRevision(conn, project, name, revision.revision));
      if (stored.outcome === 'unavailable') return stored;
    }
    let result = await putLimits(project, limits);
    // Last: child runs need revision and limits.
    if ((isNew || !isDescribed) && result.outcome === 'done')
      result = await putIn(project, () =>
        putCallee(conn, project, { name: workflow, workflowUid, revision: name, description }),
      );
    if (result.outcome === 'done') remember(project, workflowUid, { revision: name, description });
    return result;
  }

  async function putProjectVariables(project: ProjectUid, values: VariableValues): Promise<Done> {
    await memory.opening(project)?.catch(() => undefined);
    const text = canonicalJson(values);
    if (memory.of(project)?.variables === text) return { outcome: 'done' };
    const result = await putIn(project, () => putVariables(conn, project, values));
    if (result.outcome === 'unavailable') return result;
    const known = memory.of(project);
    const isFirst = known?.variables === undefined;
    if (known) known.variables = text;
    if (isFirst) return result;
    const dropped = await dropUnusedVariables(conn, project);
    return typeof dropped === 'number' ? result : dropped;
  }

  return { putWorkflow, putLimits, putVariables: putProjectVariables };
}

/** Stores or removes polled triggers, unless that was done last. */
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

/** The knowledge about stored limits. */
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

/** Forgets what was stored of a workflow. */
export function forgetWorkflow(project: Project | undefined, workflowUid: string): void {
  project?.put.delete(workflowUid);
  project?.triggers.delete(workflowUid);
}
