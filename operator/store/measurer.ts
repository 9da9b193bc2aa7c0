/** Reads the live runs of all workflows for the metrics. */
import type { Workflow } from '../../api/kinds.ts';
import { jittered } from '../../kube/backoff.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Namespace } from '../../kube/resource.ts';
import { isUnavailable } from '../../store/connection.ts';
import { measureWorkflows } from '../../runs/measures.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { WorkflowMetrics, NamedWorkflow, WorkflowReading } from './workflowMetrics.ts';

/**
 * For so long the measures of a project hold whose runners sleep, with an even spread: what changes them
 * wakes the runners.
 */
const RESTING_MS = 3_600_000;
const RESTING_SPREAD = 0.3;
/** How often it is asked which of them hold no longer. */
const RESTING_ROUND_MS = 600_000;

type MeasureContext = Pick<OperatorContext, 'conn' | 'clock'> & {
  caches: {
    namespaces: Pick<Cache<Namespace>, 'list' | 'onChange'>;
    workflows: Pick<Cache<Workflow>, 'list' | 'onChange'>;
  };
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
};
type Measured = Awaited<ReturnType<typeof measureWorkflows>>;

/**
 * Each call reads all workflows once, but for those of projects that rest, and does nothing where all of them
 * do. Those of a project that the run store cannot read are added when it can.
 */
export function createMeasurer(
  { conn, caches, clock, scaling }: MeasureContext,
  metrics: Pick<WorkflowMetrics, 'seen'>,
): { measure: () => Promise<void>; end: () => void } {
  const beganAt = clock.date().getTime();
  /** By project. */
  const resting = new Map<string, { measured: Measured; until: number; uids: string }>();
  let projects: { namespace: string; project: string }[] = [];
  let roundAt = clock.now();
  let isAnyChanged = true;
  const note = (): void => void (isAnyChanged = true);
  const ends = [caches.namespaces.onChange(note), caches.workflows.onChange(note)];

  /** What was measured of a project whose runners sleep, and where nothing waits. */
  function restingOf(namespace: string, project: string) {
    return scaling.asleep.get(namespace) === true ? resting.get(project) : undefined;
  }

  async function measureProject(namespace: string, project: string, uids: string[]): Promise<Measured> {
    const last = restingOf(namespace, project);
    if (last?.uids === uids.join()) return last.measured;
    const measured = await measureWorkflows(conn, project, uids);
    const isAtRest = !isUnavailable(measured) && [...measured.values()].every(({ waiting }) => waiting === 0);
    const until = clock.now() + jittered(RESTING_MS, RESTING_SPREAD);
    if (isAtRest) resting.set(project, { measured, until, uids: uids.join() });
    else resting.delete(project);
    return measured;
  }

  /** Has projects measured again that rest for long. */
  function forgetOld(): void {
    if (clock.now() - roundAt < RESTING_ROUND_MS) return;
    roundAt = clock.now();
    for (const [project, { until }] of resting) if (clock.now() >= until) resting.delete(project);
  }

  async function measure(): Promise<void> {
    forgetOld();
    const areAtRest = projects.every(({ namespace, project }) => restingOf(namespace, project));
    if (!isAnyChanged && areAtRest) return;
    isAnyChanged = false;
    await measureAll().catch((error: unknown) => {
      isAnyChanged = true;
      throw error;
    });
  }

  async function measureAll(): Promise<void> {
    projects = [];
    const existing: NamedWorkflow[] = [];
    const readings: WorkflowReading[] = [];
    for (const { metadata } of caches.namespaces.list()) {
      const { name: namespace, uid: project } = metadata;
      const workflows = caches.workflows.list(namespace);
      if (project === undefined || workflows.length === 0) continue;
      projects.push({ namespace, project });
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
  }

  return { measure, end: () => ends.forEach((end) => end()) };
}
