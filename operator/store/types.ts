/** The operator's view of the run store of a project. */
import type { Unavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { PolledTrigger } from '../../store/polling/triggers.ts';
import type { WorkflowLimits } from '../../runs/types/limits.ts';
import type { VariableValues } from '../../runs/variables.ts';
import type { NamedRevision } from '../shared/revisions.ts';
import type { GoneWorkflow } from './workflowDeletion.ts';
import type { Deletions } from './deletionQueue.ts';

export type StoredWorkflow = {
  name: string;
  revision: NamedRevision;
  description?: string | undefined;
  limits: WorkflowLimits;
};

export type Done = { outcome: 'done' } | Unavailable;

export type ProjectStore = {
  /** Stores what runs of the workflow need, unless it is stored. */
  putWorkflow(project: ProjectUid, workflow: StoredWorkflow): Promise<Done>;
  /** Stores only the limits of a workflow, and whether it is suspended, unless they are stored. */
  putLimits(project: ProjectUid, limits: WorkflowLimits): Promise<Done>;
  /** Stores the variables of the project, unless they are stored, and removes those that no run uses. */
  putVariables(project: ProjectUid, values: VariableValues): Promise<Done>;
  /** Stores the workflow's polled trigger, or removes it if `trigger` is undefined, unless that is done. */
  putTrigger(project: ProjectUid, workflowUid: string, trigger: PolledTrigger | undefined): Promise<Done>;
  /**
   * Prevents runs of a deleted workflow from starting, at the latest when the run store is available. Its
   * runs are deleted in the background.
   */
  deleteWorkflow(workflow: GoneWorkflow): Promise<void>;
  /** Notes a deleted workflow. */
  noteDeleted(workflow: GoneWorkflow): void;
  /** The deleted workflows whose runs are not deleted yet. */
  deletions: Pick<Deletions, 'isUnderWay' | 'list' | 'resume' | 'run'>;
  /** Opens the project, seeded from records, if it is not open. */
  open(project: ProjectUid): Promise<Done>;
  /** Opens the project if it is not open. `lost`: its data was lost since the last call. */
  check(project: ProjectUid): Promise<{ outcome: 'done'; lost: boolean } | Unavailable>;
  /** Whether limits of the workflow were stored and are not known to be removed. */
  hasLimits(project: ProjectUid, workflowUid: string): boolean;
  /**
   * Has the next reconcile of the workflow store everything again, since its limits are missing. False if the
   * store lost the data of the project: then everything is stored again anyway.
   */
  invalidate(project: ProjectUid, workflowUid: string): Promise<boolean>;
  /** The server may have lost the end of its log: the next check of each project stores everything again. */
  invalidateAll(): void;
  /** Forgets a closed project. */
  forget(project: ProjectUid): void;
};
