/** The operator's view of the run store of a project. */
import type { Unavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { PolledTrigger } from '../../store/polling/triggers.ts';
import type { WorkflowLimits } from '../../runs/types.ts';
import type { NamedRevision } from '../shared/revisions.ts';
import type { GoneWorkflow } from './deletion.ts';
import type { Deletions } from './deletions.ts';

export type StoredWorkflow = { revision: NamedRevision; limits: WorkflowLimits };

export type Done = { outcome: 'done' } | Unavailable;

export type ProjectStore = {
  /** Puts what runs of the workflow need, unless it is there. */
  putWorkflow(project: ProjectUid, workflow: StoredWorkflow): Promise<Done>;
  /** Puts the limits of a workflow alone, and with them whether it is suspended, unless they are there. */
  putLimits(project: ProjectUid, limits: WorkflowLimits): Promise<Done>;
  /** Has the workflow's trigger looked at, or none of it where there is no such trigger, unless that is so already. */
  putTrigger(project: ProjectUid, workflowUid: string, trigger: PolledTrigger | undefined): Promise<Done>;
  /** Has no run of a workflow that is gone start any more, or as soon as the run store is back. Its runs go in the background. */
  deleteWorkflow(workflow: GoneWorkflow): Promise<void>;
  /** Remembers that a workflow is gone. */
  noteDeleted(workflow: GoneWorkflow): void;
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
  invalidateAll(): void;
  /** Forgets a project that is closed. */
  forget(project: ProjectUid): void;
};
