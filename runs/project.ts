import type { Revision } from '../api/revision.ts';
import type { RunStoreConnection } from './connection.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from './types.ts';

type Done = { outcome: 'done' } | Unavailable;

/** Gives the project its place. `fresh`: there was none, so a project that was open before has lost its data. */
export declare function openProject(
  conn: RunStoreConnection,
  project: ProjectUid,
  options?: { quotaBytes?: number },
): Promise<{ outcome: 'done'; id: string; fresh: boolean } | Unavailable>;

export declare function setWorkflowLimits(
  conn: RunStoreConnection,
  project: ProjectUid,
  limits: WorkflowLimits,
): Promise<Done>;

export declare function dropWorkflow(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<Done>;

export declare function setWriteBudget(
  conn: RunStoreConnection,
  project: ProjectUid,
  perSecond: number,
): Promise<Done>;

export declare function closeProject(conn: RunStoreConnection, project: ProjectUid): Promise<Done>;

export declare function putRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
  revision: Revision,
): Promise<Done>;

/** A revision never changes, so it is kept in the process once it was read. */
export declare function getRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
): Promise<Revision | undefined | Unavailable>;

export declare function dropRevisions(
  conn: RunStoreConnection,
  project: ProjectUid,
  names: string[],
): Promise<Done>;
