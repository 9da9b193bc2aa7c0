/**
 * Deletes the runs of deleted workflows in the background, one page of each in rotation: a large deletion
 * delays neither small ones nor reconciles. The run store knows what is left, so that another operator can
 * continue.
 */
import { sleep, type Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { deletionsUnderWay } from '../../runs/deletion.ts';
import {
  createDeletion,
  type Deletion,
  type DeletionProgress,
  type GoneWorkflow,
} from './workflowDeletion.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** The interval of progress reports. */
const REPORT_MS = 10_000;
/**
 * The longest pause between two pages. A pause is as long as the page took, so that the run store has half of
 * its time for other work; if a page takes longer than this, other work is served meanwhile.
 */
const LONGEST_PAUSE_MS = 100;

export type Deletions = {
  /** Notes a deleted workflow, for `run`. */
  note(workflow: GoneWorkflow): void;
  /** Notes it, and prevents its runs from starting; during an outage of the run store, `run` does that. */
  begin(workflow: GoneWorkflow): Promise<void>;
  isUnderWay(project: ProjectUid): boolean;
  list(): DeletionProgress[];
  /** Forgets the deletions of a closed project. */
  forget(project: ProjectUid): void;
  /**
   * Notes the deletions that an earlier operator began in the project. False if the run store is unavailable.
   */
  resume(project: ProjectUid): Promise<boolean>;
  /** Works until the signal is aborted. */
  run(watcher: DeletionWatcher, signal: AbortSignal): Promise<void>;
};

type DeletionWatcher = {
  log: Log;
  /** Called every ten seconds for each deletion in progress. */
  onProgress: (progress: DeletionProgress) => void;
  onEnd: (progress: DeletionProgress) => void;
};

type Known = { deletion: Deletion; project: ProjectUid; reportedAt: number };

/** `pageSize`: runs of one page; left out: the default of `runs/deletion.ts`. */
export function createDeletions(options: {
  conn: RunStoreConnection;
  clock: Clock;
  pageSize?: number;
}): Deletions {
  const { conn, clock } = options;
  const known = new Map<string, Known>();
  let wake = (): void => undefined;

  function note(workflow: GoneWorkflow): Deletion {
    const key = `${workflow.project}/${workflow.workflowUid}`;
    const before = known.get(key);
    if (before) return before.deletion;
    const deletion = createDeletion(options, workflow);
    known.set(key, { deletion, project: workflow.project, reportedAt: clock.now() });
    wake();
    return deletion;
  }

  async function stepAll({ log, onProgress, onEnd }: DeletionWatcher, signal: AbortSignal): Promise<void> {
    for (const [key, entry] of known) {
      const { deletion } = entry;
      if (signal.aborted || deletion.dueAt() > clock.now()) continue;
      const isOver = await deletion.step().catch((error: unknown) => {
        log.warn({ err: error }, 'cannot delete runs');
        deletion.postpone();
        return false;
      });
      if (isOver && known.get(key) === entry) {
        known.delete(key);
        onEnd(deletion.progress());
      } else if (clock.now() - entry.reportedAt >= REPORT_MS) {
        entry.reportedAt = clock.now();
        onProgress(deletion.progress());
      }
    }
  }

  /** Resolves when the next step is due, or another deletion is noted. */
  async function pause(tookMs: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    wake = () => waiting.abort();
    const dueAt = Math.min(...[...known.values()].map(({ deletion }) => deletion.dueAt()));
    const ms = Math.max(dueAt - clock.now(), Math.min(tookMs, LONGEST_PAUSE_MS));
    await sleep(ms, AbortSignal.any([signal, waiting.signal]), clock);
  }

  return {
    note,
    begin: async (workflow) => void (await note(workflow).mark()),
    isUnderWay: (project) => [...known.values()].some((entry) => entry.project === project),
    list: () => [...known.values()].map(({ deletion }) => deletion.progress()),
    forget: (project) => {
      for (const [key, entry] of known) if (entry.project === project) known.delete(key);
    },
    resume: async (project) => {
      const found = await deletionsUnderWay(conn, project);
      if (isUnavailable(found)) return false;
      for (const workflow of found) note({ project, ...workflow });
      return true;
    },
    run: async (watcher, signal) => {
      while (!signal.aborted) {
        const from = clock.now();
        await stepAll(watcher, signal);
        await pause(clock.now() - from, signal);
      }
    },
  };
}
