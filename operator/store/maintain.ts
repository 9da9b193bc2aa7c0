/**
 * Maintains the run store while this operator leads: quotas, metrics, expired summaries, and data that
 * belongs to nothing.
 */
import { untilBeat } from '../../kube/beat.ts';
import { sleep } from '../../kube/clock.ts';
import { groupsOf } from '../../store/groups.ts';
import { trimSummaries } from '../../runs/record/summaries.ts';
import type { OperatorContext } from '../shared/context.ts';
import { createQuotaSetter, type OpenProject } from './allQuotas.ts';
import { createMeasurer } from './measurer.ts';
import type { StoreMetrics } from './metrics.ts';
import type { WorkflowMetrics } from './workflowMetrics.ts';
import type { StoreChanges } from './changes.ts';
import type { FullProjects } from './fullProjects.ts';
import type { ProjectStore } from './types.ts';
import { summariesOf } from './quota.ts';
import { createSweeper } from './sweep.ts';

const QUOTA_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 600_000;
/** After an interrupted sweep: the operator may start before the run store can be reached. */
const SWEEP_AGAIN_MS = 5_000;
/** After each page: a sweep of a million keys takes minutes, without load that others notice. */
const PAUSE_MS = 20;
const TRIM_EVERY_MS = 600_000;
const TRIM_ASLEEP_EVERY_MS = 3_600_000;
const MEASURE_EVERY_MS = 15_000;

type StoreContext = OperatorContext & {
  store: ProjectStore;
  storeChanges: Pick<StoreChanges, 'full' | 'used'>;
  fullProjects: FullProjects;
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
};

/** Maintains the run store until the signal is aborted. */
export async function maintainStore(
  context: StoreContext,
  metrics: { store: StoreMetrics; workflows: WorkflowMetrics },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = context;
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> =>
    work().catch((error: unknown) => {
      log.warn({ err: error }, 'run store maintenance failed');
      return undefined;
    });
  const repeat = async (everyMs: number, work: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      await attempt(work);
      await untilBeat(everyMs, signal, clock);
    }
  };
  const setAllQuotas = createQuotaSetter(context, metrics.store);
  const trim = createTrimmer(context);
  const measurer = createMeasurer(context, metrics.workflows);
  const sweeper = createSweeper(context);
  const pause = (): Promise<void> => sleep(PAUSE_MS, signal, clock);
  const sweep = async (): Promise<void> => {
    while (!signal.aborted) {
      const isComplete = await attempt(() => sweeper.sweep(pause));
      await sleep(isComplete === true ? SWEEP_EVERY_MS : SWEEP_AGAIN_MS, signal, clock);
    }
  };
  await Promise.all([
    repeat(QUOTA_EVERY_MS, async () => {
      const projects = await setAllQuotas();
      if (projects === undefined) return;
      context.storeChanges.used.notify(projects);
      for (const namespace of context.fullProjects.seen(projects))
        context.storeChanges.full.notify(namespace);
      await trim(projects);
    }),
    repeat(MEASURE_EVERY_MS, measurer.measure),
    sweep(),
  ]);
  measurer.end();
}

/**
 * Each call trims summaries that are too old or too many, at most every ten minutes, and those of sleeping
 * projects, which get no more of them, at most every hour.
 */
function createTrimmer({ caches, clock, conn, scaling }: StoreContext) {
  let trimmedAt = clock.now();
  let allTrimmedAt = trimmedAt;
  return async (projects: readonly OpenProject[]): Promise<void> => {
    if (clock.now() - trimmedAt < TRIM_EVERY_MS) return;
    trimmedAt = clock.now();
    const isAll = trimmedAt - allTrimmedAt >= TRIM_ASLEEP_EVERY_MS;
    if (isAll) allTrimmedAt = trimmedAt;
    for (const { uid, namespace, use } of projects) {
      if (!isAll && scaling.asleep.get(namespace) === true) continue;
      const own = caches.workflows.list(namespace);
      for (const { metadata } of own)
        for (const group of groupsOf(metadata.uid ?? ''))
          await trimSummaries(conn, uid, group, summariesOf(use, own.length));
    }
  };
}
