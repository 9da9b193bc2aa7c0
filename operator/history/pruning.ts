/** Which runs of a workflow its history keeps. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import { EVALUATION, type WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import type { HistoryPolicy } from '../store/limits.ts';

/** How many ended child runs of unfinished parents a workflow keeps beyond its history, the last ones. */
const NEEDED_CHILDREN = 1_000;

export type Pruning = {
  /** Oldest first. */
  prune: WorkflowRun[];
  /** Runs that stay, but whose inputs and outputs are removed. Oldest first. */
  strip: WorkflowRun[];
  /** When the next run, or its data, becomes too old, in milliseconds from now. */
  nextMs?: number;
};

/**
 * The runs of a workflow to prune. Unfinished runs are never among them, nor child runs whose parent may
 * still need their result: after a loss of the run store it is only in their record. `isUnfinished`: of the
 * run of that name. A run of an Evaluation stays as long as that, but not its data.
 */
export function pruningOf(
  runs: readonly WorkflowRun[],
  policy: HistoryPolicy,
  now: Date,
  isUnfinished: (run: string) => boolean = () => false,
): Pruning {
  const all = runs
    // A run that waits for a finalizer is already being deleted.
    .filter((run) => isTerminal(run.status?.phase) && run.metadata.deletionTimestamp === undefined)
    .map((run) => ({
      run,
      endedAt: Date.parse(run.status?.completionTime ?? run.metadata.creationTimestamp ?? ''),
    }))
    .toSorted((a, b) => b.endedAt - a.endedAt);
  const needed = new Set(
    all.filter(({ run: { spec } }) => spec.parent && isUnfinished(spec.parent.run)).slice(0, NEEDED_CHILDREN),
  );
  const ended = all.filter((entry) => !needed.has(entry));
  // Test runs have a history of their own, of the same length.
  const newestRuns = [true, false]
    .flatMap((isTest) =>
      newest(
        ended.filter(({ run }) => !isOfEvaluation(run) && (run.spec.test === true) === isTest),
        policy,
      ),
    )
    .filter(({ endedAt }) => now.getTime() - endedAt < policy.ttlMs);
  const kept = [...newestRuns, ...ended.filter(({ run }) => isOfEvaluation(run))];
  const keptRuns = new Set(kept.map(({ run }) => run));
  const withData = kept.filter(({ run }) => run.metadata.annotations?.[ANNOTATION.dataRemoved] === undefined);
  const [expired, fresh] = [true, false].map((isExpired) =>
    withData.filter(({ endedAt }) => now.getTime() - endedAt >= policy.dataTtlMs === isExpired),
  ) as [typeof kept, typeof kept];
  const dueAt = Math.min(
    ...newestRuns.map(({ endedAt }) => endedAt + policy.ttlMs),
    ...fresh.map(({ endedAt }) => endedAt + policy.dataTtlMs),
  );
  return {
    prune: ended
      .filter(({ run }) => !keptRuns.has(run))
      .map(({ run }) => run)
      .toReversed(),
    strip: expired.map(({ run }) => run).toReversed(),
    ...(Number.isFinite(dueAt) && { nextMs: Math.max(dueAt - now.getTime(), 0) + 1_000 }),
  };
}

function isOfEvaluation({ metadata }: WorkflowRun): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === EVALUATION.kind) ?? false;
}

/** The ended runs that stay; the last one first. */
function newest<T extends { run: WorkflowRun }>(ended: readonly T[], policy: HistoryPolicy): T[] {
  const succeeded = ended.filter(({ run }) => run.status?.phase === 'Succeeded');
  const failed = ended.filter(({ run }) => run.status?.phase !== 'Succeeded');
  return [...succeeded.slice(0, policy.succeeded), ...failed.slice(0, policy.failed)];
}
