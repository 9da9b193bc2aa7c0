/**
 * Works through the runs of deleted workflows in the background, a page of each in turn: a large deletion holds up neither small
 * ones nor a reconcile. What is left is in the run store, so that another operator goes on with it.
 */
import { sleep, type Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { deletionsUnderWay } from '../../runs/deletion.ts';
import { createDeletion, type Deletion, type DeletionProgress, type GoneWorkflow } from './deletion.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** How often a deletion says how far it is. */
const TOLD_MS = 10_000;
/**
 * The longest rest between two pages. A rest is as long as the page took, so that the run store has half of its time for others; where a
 * page takes longer than this, others are served meanwhile.
 */
const LONGEST_REST_MS = 100;

export type Deletions = {
  /** Remembers that a workflow is gone; `run` does the rest. */
  note(workflow: GoneWorkflow): void;
  /** Notes it, and has no run of it start any more, unless the run store is away: then `run` does. */
  begin(workflow: GoneWorkflow): Promise<void>;
  isUnderWay(project: ProjectUid): boolean;
  list(): DeletionProgress[];
  /** Forgets those of a project that is closed. */
  forget(project: ProjectUid): void;
  /** Notes what an operator before this one began in the project. False where the run store is away. */
  resume(project: ProjectUid): Promise<boolean>;
  /** Works until the signal is aborted. */
  run(watcher: DeletionWatcher, signal: AbortSignal): Promise<void>;
};

type DeletionWatcher = {
  log: Log;
  /** Called every ten seconds for each deletion that takes so long. */
  onProgress: (progress: DeletionProgress) => void;
  onEnd: (progress: DeletionProgress) => void;
};

type Known = { deletion: Deletion; project: ProjectUid; toldAt: number };

/** `pageSize`: runs of one page; left out: what `runs/deletion.ts` says. */
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
    known.set(key, { deletion, project: workflow.project, toldAt: clock.now() });
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
      } else if (clock.now() - entry.toldAt >= TOLD_MS) {
        entry.toldAt = clock.now();
        onProgress(deletion.progress());
      }
    }
  }

  /** Until the next one is due, or another one is noted. */
  async function rest(tookMs: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    wake = () => waiting.abort();
    const dueAt = Math.min(...[...known.values()].map(({ deletion }) => deletion.dueAt()));
    const ms = Math.max(dueAt - clock.now(), Math.min(tookMs, LONGEST_REST_MS));
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
        await rest(clock.now() - from, signal);
      }
    },
  };
}
