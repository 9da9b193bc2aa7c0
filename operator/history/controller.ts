/**
 * Prunes the WorkflowRuns of a workflow that have ended: by count and by age, as its `history` says, at a gentle pace. Of those that
 * stay it removes inputs and outputs that are older than `dataTTL`.
 */
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import { ANNOTATION } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import { objectKey } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Pacer } from '../shared/pacer.ts';
import { workflowRuns } from '../shared/resources.ts';
import { BY_WORKFLOW } from '../shared/caches.ts';
import { removeData } from './removeData.ts';
import { workflowDefaults } from '../pods/settings.ts';
import { withDefaults } from '../shared/workflowDefaults.ts';

/** At most so many in one go, so that one workflow does not hold up the others. */
const AT_ONCE = 50;
const DEFAULTS = { succeeded: 10, failed: 10, ttlMs: 168 * 3_600_000 };

/** `dataTtlMs`: Infinity where inputs and outputs stay as long as the run. */
export type HistoryPolicy = { succeeded: number; failed: number; ttlMs: number; dataTtlMs: number };

/** What the spec says, or the defaults. */
export function historyPolicy(spec: Pick<WorkflowSpec, 'history'> | undefined): HistoryPolicy {
  const { succeeded = DEFAULTS.succeeded, failed = DEFAULTS.failed, ttl, dataTTL } = spec?.history ?? {};
  return {
    succeeded,
    failed,
    ttlMs: ttl === undefined ? DEFAULTS.ttlMs : boundedDuration(ttl, DURATION_BOUNDS.history),
    dataTtlMs: dataTTL === undefined ? Infinity : boundedDuration(dataTTL, DURATION_BOUNDS.history),
  };
}

export type Pruning = {
  /** Oldest first. */
  prune: WorkflowRun[];
  /** Runs that stay, and whose inputs and outputs are to be removed. Oldest first. */
  strip: WorkflowRun[];
  /** When the next one of those that are kept, or its data, grows too old, in milliseconds from now. */
  nextMs?: number;
};

/** Which of a workflow's runs are to be deleted. Runs that have not ended are never among them. */
export function pruningOf(runs: readonly WorkflowRun[], policy: HistoryPolicy, now: Date): Pruning {
  const ended = runs
    // One that waits for a finalizer is deleted as far as it can be: to do it again would never come to an end.
    .filter((run) => isTerminal(run.status?.phase) && run.metadata.deletionTimestamp === undefined)
    .map((run) => ({
      run,
      endedAt: Date.parse(run.status?.completionTime ?? run.metadata.creationTimestamp ?? ''),
    }))
    .toSorted((a, b) => b.endedAt - a.endedAt);
  // Test runs have a history of their own, of the same length.
  const kept = [true, false]
    .flatMap((isTest) =>
      newest(
        ended.filter(({ run }) => (run.spec.test === true) === isTest),
        policy,
      ),
    )
    .filter(({ endedAt }) => now.getTime() - endedAt < policy.ttlMs);
  const keptRuns = new Set(kept.map(({ run }) => run));
  const withData = kept.filter(({ run }) => run.metadata.annotations?.[ANNOTATION.dataRemoved] === undefined);
  const [expired, fresh] = [true, false].map((isExpired) =>
    withData.filter(({ endedAt }) => now.getTime() - endedAt >= policy.dataTtlMs === isExpired),
  ) as [typeof kept, typeof kept];
  const dueAt = Math.min(
    ...kept.map(({ endedAt }) => endedAt + policy.ttlMs),
    ...fresh.map(({ endedAt }) => endedAt + policy.dataTtlMs),
  );
  return {
    prune: ended
      .filter(({ run }) => !keptRuns.has(run))
      .map(({ run }) => run)
      .toReversed(),
    strip: expired.map(({ run }) => run).toReversed(),
    ...(kept.length > 0 && { nextMs: Math.max(dueAt - now.getTime(), 0) + 1_000 }),
  };
}

/** Of runs that ended, the last one first, those that stay. */
function newest<T extends { run: WorkflowRun }>(ended: readonly T[], policy: HistoryPolicy): T[] {
  const succeeded = ended.filter(({ run }) => run.status?.phase === 'Succeeded');
  const failed = ended.filter(({ run }) => run.status?.phase !== 'Succeeded');
  return [...succeeded.slice(0, policy.succeeded), ...failed.slice(0, policy.failed)];
}

/** Prunes the runs of the workflow of that name, whether it still exists or not. */
export async function reconcileHistory(context: OperatorContext, pacer: Pacer, key: Key): Promise<Action> {
  const { caches, client, clock } = context;
  const workflow = caches.workflows.get(key.namespace, key.name);
  const defaults = workflowDefaults(caches, key.namespace);
  const spec = workflow ? withDefaults(workflow, defaults).spec : defaults;
  const runs = caches.runs.byIndex(BY_WORKFLOW, objectKey(key));
  const { prune, strip, nextMs } = pruningOf(runs, historyPolicy(spec), clock.date());
  for (const { metadata } of prune.slice(0, AT_ONCE)) {
    await pacer.take();
    const { name, namespace = '', uid } = metadata;
    await client.delete(
      workflowRuns,
      { namespace, name },
      { propagation: 'Background', ...(uid !== undefined && { preconditions: { uid } }) },
    );
  }
  for (const run of strip.slice(0, AT_ONCE)) {
    await pacer.take();
    await removeData(context, run);
  }
  if (prune.length > AT_ONCE || strip.length > AT_ONCE) return after(0);
  return nextMs === undefined ? done() : after(nextMs);
}
