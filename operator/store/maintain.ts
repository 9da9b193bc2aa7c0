/**
 * Maintains the run store while this operator leads: quotas, metrics, expired summaries, and data that
 * belongs to nothing.
 */
import { sleep } from '../../kube/clock.ts';
import { groupsOf } from '../../store/groups.ts';
import { trimSummaries } from '../../runs/record/summaries.ts';
import type { OperatorContext } from '../shared/context.ts';
import { createQuotaSetter, type OpenProject } from './allQuotas.ts';
import type { StoreMetrics } from './metrics.ts';
import type { WorkflowMetrics, NamedWorkflow, WorkflowReading } from './workflowMetrics.ts';
import type { StoreChanges } from './changes.ts';
import type { FullProjects } from './fullProjects.ts';
import type { ProjectStore } from './types.ts';
import { summariesOf } from './quota.ts';
import { createSweeper } from './sweep.ts';
import { isUnavailable } from '../../store/connection.ts';
import { measureWorkflows } from '../../runs/measures.ts';

const QUOTA_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 600_000;
/** After an interrupted sweep: the operator may start before the run store can be reached. */
const SWEEP_AGAIN_MS = 5_000;
/** After each page: a sweep of a million keys takes minutes, without load that others notice. */
const PAUSE_MS = 20;
const TRIM_EVERY_MS = 600_000;
const MEASURE_EVERY_MS = 15_000;
/** For so long the measures of a project hold whose runners sleep. */
const RESTING_MS = 600_000;

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
  const repeat = async (againMs: number, work: () => Promise<number>): Promise<void> => {
    while (!signal.aborted) {
      const ms = await work().catch((error: unknown) => {
        log.warn({ err: error }, 'run store maintenance failed');
        return againMs;
      });
      await sleep(ms, signal, clock);
    }
  };
  const setAllQuotas = createQuotaSetter(context, metrics.store);
  const sweeper = createSweeper(context);
  const measure = createMeasurer(context, metrics.workflows);
  let trimmedAt = clock.now();
  const pause = (): Promise<void> => sleep(PAUSE_MS, signal, clock);
  await Promise.all([
    repeat(QUOTA_EVERY_MS, async () => {
      const projects = await setAllQuotas();
      if (projects === undefined) return QUOTA_EVERY_MS;
      context.storeChanges.used.notify(projects);
      for (const namespace of context.fullProjects.seen(projects))
        context.storeChanges.full.notify(namespace);
      if (clock.now() - trimmedAt >= TRIM_EVERY_MS) {
        trimmedAt = clock.now();
        await trimAll(context, projects);
      }
      return QUOTA_EVERY_MS;
    }),
    repeat(MEASURE_EVERY_MS, async () => {
      await measure();
      return MEASURE_EVERY_MS;
    }),
    repeat(SWEEP_AGAIN_MS, async () => ((await sweeper.sweep(pause)) ? SWEEP_EVERY_MS : SWEEP_AGAIN_MS)),
  ]);
}

/** Trims summaries that are too old or too many. */
async function trimAll({ conn, caches }: OperatorContext, projects: readonly OpenProject[]): Promise<void> {
  for (const { uid, namespace, use } of projects) {
    const own = caches.workflows.list(namespace);
    for (const { metadata } of own)
      for (const group of groupsOf(metadata.uid ?? ''))
        await trimSummaries(conn, uid, group, summariesOf(use, own.length));
  }
}

type MeasureContext = Pick<OperatorContext, 'conn' | 'caches' | 'clock'> & Pick<StoreContext, 'scaling'>;
type Measured = Awaited<ReturnType<typeof measureWorkflows>>;

/**
 * Each call reads all workflows once. Those of a project that the run store cannot read are added when it
 * can.
 */
function createMeasurer(
  { conn, caches, clock, scaling }: MeasureContext,
  metrics: WorkflowMetrics,
): () => Promise<void> {
  const beganAt = clock.date().getTime();
  const resting = new Map<string, { measured: Measured; at: number; uids: string }>();

  /** A project whose runners sleep, and where nothing waits, is what it was. */
  async function measureProject(namespace: string, project: string, uids: string[]): Promise<Measured> {
    const last = scaling.asleep.get(namespace) === true ? resting.get(project) : undefined;
    const isCurrent = last?.uids === uids.join() && clock.now() - last.at < RESTING_MS;
    if (last && isCurrent) return last.measured;
    const measured = await measureWorkflows(conn, project, uids);
    const isAtRest = !isUnavailable(measured) && [...measured.values()].every(({ waiting }) => waiting === 0);
    if (isAtRest) resting.set(project, { measured, at: clock.now(), uids: uids.join() });
    else resting.delete(project);
    return measured;
  }

  return async () => {
    const existing: NamedWorkflow[] = [];
    const readings: WorkflowReading[] = [];
    for (const { metadata } of caches.namespaces.list()) {
      const { name: namespace, uid: project } = metadata;
      const workflows = caches.workflows.list(namespace);
      if (project === undefined || workflows.length === 0) continue;
      const uids = workflows.map(({ metadata: { uid = '' } }) => uid);
      const measured = await measureProject(namespace, project, uids);
      for (const {
        metadata: { name: workflow, uid = '', creationTimestamp = '' },
        spec: { active: isActive = false },
      } of workflows) {
        const named = { namespace, workflow, uid, isActive };
        existing.push(named);
        const measures = isUnavailable(measured) ? undefined : measured.get(uid);
        const isNew = Date.parse(creationTimestamp) >= beganAt;
        if (measures) readings.push({ ...named, isNew, measures });
      }
    }
    metrics.seen(readings, existing);
    for (const [project, { at }] of resting) if (clock.now() - at >= RESTING_MS) resting.delete(project);
  };
}
