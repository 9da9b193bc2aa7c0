/** The deletion of one workflow's runs, page by page, and its progress. */
import type { Clock } from '../../kube/clock.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { beginDeletion, deletePage, dropWorkflow, type DeletedWorkflow } from '../../runs/deletion.ts';
import { dropTrigger } from '../../store/polling/triggers.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** The delay before runs that a runner was asked to end, or an unavailable run store, are tried again. */
const AGAIN_MS = 1_000;

export type GoneWorkflow = DeletedWorkflow & { project: ProjectUid };

/** The progress of a deletion. */
export type DeletionProgress = GoneWorkflow & {
  /** Runs that the store had when this operator began. */
  total: number;
  left: number;
  /** How many of those left a runner executed at the last check. */
  running: number;
  seconds: number;
};

export type Deletion = {
  /** When the next step is due, by the clock. */
  dueAt(): number;
  progress(): DeletionProgress;
  /** Prevents the run store from starting runs of the workflow. False if it is unavailable. */
  mark(): Promise<boolean>;
  /** Deletes the next page. True when nothing of the workflow is left. */
  step(): Promise<boolean>;
  /** Delays the next step by a second. */
  postpone(): void;
};

type Options = { conn: RunStoreConnection; clock: Clock; pageSize?: number };

export function createDeletion({ conn, clock, pageSize }: Options, workflow: GoneWorkflow): Deletion {
  const { project, workflowUid } = workflow;
  const startedAt = clock.now();
  const size = pageSize === undefined ? {} : { size: pageSize };
  let dueAt = startedAt;
  let hasFinalizer = false;
  let total = 0;
  let left = 0;
  let running = 0;
  /** The number of running runs at the beginning of the index, which stay there until they end. */
  let skip = 0;

  const postpone = (): void => void (dueAt = clock.now() + AGAIN_MS);

  async function mark(): Promise<boolean> {
    if (hasFinalizer) return true;
    const begun = await beginDeletion(conn, project, workflow);
    if (isUnavailable(begun)) return false;
    if (isUnavailable(await dropTrigger(conn, project, workflowUid))) return false;
    hasFinalizer = true;
    left = begun.left;
    total = begun.left;
    return true;
  }

  async function step(): Promise<boolean> {
    const page = (await mark()) ? await deletePage(conn, project, workflowUid, { skip, ...size }) : undefined;
    if (page === undefined || isUnavailable(page)) {
      postpone();
      return false;
    }
    left = page.left;
    skip += page.running;
    if (page.seen > 0) return false;
    if (left === 0 && !isUnavailable(await dropWorkflow(conn, project, workflowUid))) return true;
    // The remaining runs are asked to end again: one that its runner handed back, or left behind, ends then.
    running = skip;
    skip = 0;
    postpone();
    return false;
  }

  return {
    dueAt: () => dueAt,
    progress: () => ({ ...workflow, total, left, running, seconds: (clock.now() - startedAt) / 1_000 }),
    mark,
    step,
    postpone,
  };
}
