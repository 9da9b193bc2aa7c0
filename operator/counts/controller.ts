/**
 * Writes the totals of a workflow's runs into its status, at most once a minute, and only if they changed;
 * more often for a suspended workflow: before they resume it, people check how many runs wait.
 */
import type { WebhookRoute, Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { WorkflowStatus } from '../../api/workflow.ts';
import { jittered } from '../../kube/backoff.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { Cache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import { after, done, keyOf, watchInto, type Action, type Key } from '../../kube/controller.ts';
import { objectKey } from '../../kube/resource.ts';
import { groupOf, groupsOf, type RunGroup } from '../../store/groups.ts';
import { readCounts, type GroupCounts } from '../../runs/read.ts';
import { noteReported } from '../../runs/reportedFailures.ts';
import type { Counts as RunCounts } from '../../runs/types/summary.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { ScalingState } from '../scaling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, subscribe, watch, type Controller, type Watch } from '../shared/controller.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import { patchStatus } from '../shared/status.ts';
import type { ProjectStore } from '../store/types.ts';
import type { FailureReports } from './failures.ts';
import { unreachable } from '../shared/errors.ts';
import { readUsage } from './usage.ts';

const EVERY_MS = 60_000;
const EVERY_WHILE_SUSPENDED_MS = 10_000;
/** While the runners of the project sleep: no run begins or ends. They are counted at once when they wake. */
const EVERY_WHILE_ASLEEP_MS = 3_600_000;
const ASLEEP_SPREAD = 0.3;
/** A field manager of its own: the workflow controller does not know these fields. */
const FIELD_MANAGER = 'windlass-operator-counts';

type RunTotals = Pick<WorkflowStatus, 'runs' | 'testRuns' | 'usage'>;

export type Counts = {
  reconcile(key: Key): Promise<Action>;
  /** Notifies of a workflow whose limits are missing in the run store. */
  limitsMissing: Notifier<Key>;
  /**
   * Whether enough time has passed since the totals were written, so that a run that begins may be shown at
   * once.
   */
  mayWrite(key: Key): boolean;
};

type CountsContext = Pick<OperatorContext, 'clock' | 'conn' | 'log'> & {
  store: Pick<ProjectStore, 'hasLimits' | 'invalidate'>;
  scaling: Pick<ScalingState, 'asleep'>;
  client: Pick<KubeClient, 'patch'>;
  caches: {
    workflows: Pick<Cache<Workflow>, 'resource' | 'get' | 'noteWrite'>;
    routes: Pick<Cache<WebhookRoute>, 'get'>;
  };
};

type WatchContext = OperatorContext & { counts: Counts; scaling: Pick<ScalingState, 'changed'> };

/** A run that starts is shown at once if the totals were not written a short time ago. */
const watchRuns: Watch<WatchContext> = ({ caches, counts }, queue) => {
  watchInto(caches.runs, queue, ({ metadata: { namespace = '' }, spec }) => {
    const key = { namespace, name: spec.workflow };
    return counts.mayWrite(key) ? [key] : [];
  });
};

export const countsController: Controller<WatchContext> = {
  name: 'counts',
  concurrency: 2,
  watches: [
    watch(({ routes }) => routes, ifSpecChanged()),
    subscribe(
      ({ scaling }: WatchContext) => scaling.changed,
      (namespace, { routes }) => routes.list(namespace).map(keyOf),
    ),
    watchRuns,
  ],
  reconcile: (key, { counts }) => counts.reconcile(key),
};

/** `werePut`: this operator stored them before they were read. */
type LimitsFound = { werePut: boolean; exist: boolean };

export function createCounts(context: CountsContext, failures: FailureReports): Counts {
  const { caches, clock, conn, scaling, store, log } = context;
  const limitsMissing = createNotifier<Key>();
  const written = new Map<string, { at: number; suspended: boolean }>();
  /** Workflows whose limits were missing at the last read, and were not stored by this operator. */
  const awaited = new Set<string>();
  const isSuspended = (key: Key): boolean =>
    caches.routes.get(key.namespace, key.name)?.spec.suspended === true;

  /**
   * The time until the totals of a workflow may be written again. They are written at once after a suspension
   * or resume.
   */
  function remainingMs(key: Key): number {
    const last = written.get(objectKey(key));
    const suspended = isSuspended(key);
    if (last === undefined || last.suspended !== suspended) return 0;
    return everyMs(suspended) - (clock.now() - last.at);
  }

  /**
   * Has missing limits stored again. If this operator stored them before they were read, somebody removed
   * them. Otherwise a reconcile is about to store them, for example after an upgrade that adds limits; the
   * workflow is reconciled only if they are still missing at the next read.
   */
  async function checkLimits(
    key: Key,
    { projectUID, workflowUID }: RouteSpec,
    found: LimitsFound,
  ): Promise<void> {
    const name = objectKey(key);
    const isAwaited = awaited.delete(name);
    if (found.exist) return;
    if (found.werePut) return putLimitsAgain(key, { projectUID, workflowUID });
    if (!isAwaited) awaited.add(name);
    else if (await store.invalidate(projectUID, workflowUID)) limitsMissing.notify(key);
  }

  /** Somebody removed the workflow's key from the run store. */
  async function putLimitsAgain(
    key: Key,
    { projectUID, workflowUID }: Pick<RouteSpec, 'projectUID' | 'workflowUID'>,
  ): Promise<void> {
    if (!(await store.invalidate(projectUID, workflowUID))) return;
    log.warn({ namespace: key.namespace, workflow: key.name }, 'restoring missing workflow limits');
    limitsMissing.notify(key);
  }

  /** If the run store is unavailable, the next reconcile stores the number of reported failures. */
  async function reportFailures(
    workflow: Workflow,
    { projectUID, workflowUID }: RouteSpec,
    counts: GroupCounts,
  ): Promise<void> {
    const reported = failures.note(workflow, counts);
    if (reported === undefined) return;
    await noteReported(conn, projectUID, groupOf({ workflowUid: workflowUID, test: false }), reported);
  }

  async function reconcile(key: Key): Promise<Action> {
    const workflow = caches.workflows.get(key.namespace, key.name);
    const route = caches.routes.get(key.namespace, key.name);
    if (!workflow || !route) {
      written.delete(objectKey(key));
      awaited.delete(objectKey(key));
      failures.forget(key);
      return done();
    }
    if (remainingMs(key) > 0) return after(remainingMs(key));
    const { projectUID, workflowUID } = route.spec;
    const werePut = store.hasLimits(projectUID, workflowUID);
    const [live, test] = await Promise.all(
      groupsOf(workflowUID).map((group) => countsOrThrow(conn, projectUID, group)),
    );
    const exist = live?.hasLimits === true && test?.hasLimits === true;
    await checkLimits(key, route.spec, { werePut, exist });
    if (live) await reportFailures(workflow, route.spec, live);
    const suspended = isSuspended(key);
    const usage = await readUsage(conn, projectUID, workflowUID);
    const totals = live && test && { ...totalsOf({ live, test }, workflow.status), ...(usage && { usage }) };
    if (totals && (await writeTotals(context, workflow, totals)))
      written.set(objectKey(key), { at: clock.now(), suspended });
    const isAsleep = scaling.asleep.get(key.namespace) === true;
    return after(
      isAsleep && !suspended ? jittered(EVERY_WHILE_ASLEEP_MS, ASLEEP_SPREAD) : everyMs(suspended),
    );
  }

  return { reconcile, limitsMissing, mayWrite: (key) => remainingMs(key) <= 0 };
}

/** The minimum time between two writes. */
function everyMs(isSuspended: boolean): number {
  return isSuspended ? EVERY_WHILE_SUSPENDED_MS : EVERY_MS;
}

async function countsOrThrow(
  conn: OperatorContext['conn'],
  project: ProjectUid,
  group: RunGroup,
): Promise<GroupCounts> {
  const counts = await readCounts(conn, project, group);
  if (!('outcome' in counts)) return counts;
  throw unreachable(counts);
}

/**
 * The totals in the status: ended live and test runs separately, unfinished runs together, since all of them
 * occupy runners and wait for a resume. A run store that lost its data does not know the last run; the status
 * still does.
 */
export function totalsOf(
  { live, test }: { live: RunCounts; test: RunCounts },
  before?: RunTotals,
): RunTotals {
  const tests = endedOf(test, before?.testRuns?.last);
  return {
    runs: {
      ...endedOf(live, before?.runs?.last),
      active: live.active + test.active,
      running: live.running + test.running,
      waiting: live.waiting + test.waiting,
    },
    ...(tests.last !== undefined && { testRuns: tests }),
  };
}

function endedOf(
  { succeeded, failed, cancelled, lastAcceptedAt }: RunCounts,
  lastBefore: string | undefined,
): { succeeded: number; failed: number; cancelled: number; last?: string } {
  const last = lastAcceptedAt === undefined ? lastBefore : new Date(lastAcceptedAt).toISOString();
  return { succeeded, failed, cancelled, ...(last !== undefined && { last }) };
}

async function writeTotals(
  { client, caches }: CountsContext,
  workflow: Workflow,
  totals: RunTotals,
): Promise<boolean> {
  const { runs, testRuns, usage } = workflow.status ?? {};
  const isEmpty = runs === undefined && totals.runs?.last === undefined && totals.testRuns === undefined;
  const before = { runs, ...(testRuns && { testRuns }), ...(usage && { usage }) };
  if (isEmpty || canonicalJson(before) === canonicalJson(totals)) return false;
  await patchStatus({ client }, caches.workflows, workflow, totals, FIELD_MANAGER);
  return true;
}
