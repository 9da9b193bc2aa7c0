/**
 * The operator of a history: limits, objects that users made, and what is put back into a store that lost its
 * data.
 */
import { isTerminal } from '../../../api/phase.ts';
import type { WebhookRoute, WorkflowRun } from '../../../api/kinds.ts';
import { controllerOf } from '../../../kube/resource.ts';
import { isNew } from '../../../operator/run/decide.ts';
import { endLost, planFor, recoverIfLost, type RecoveryContext } from '../../../operator/run/recovery.ts';
import { findOrigin, resumeFrom } from '../../../operator/run/resume.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { newSeedProgress, seedProject, type SeedSource } from '../../../operator/store/seed.ts';
import { WaitingError } from '../../../kube/controller.ts';
import { ApiError } from '../../../kube/errors.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { setQuotas, setWorkflowLimits, setWriteBudget, type Quotas } from '../../../runs/limits.ts';
import { storeId } from '../../../runs/project.ts';
import { restoreRun } from '../../../runs/restore.ts';
import { dedupeMarkOf } from '../../../runs/record/restoreAnnotations.ts';
import { submit } from '../../../runs/submit.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import type { Harness } from '../harness.ts';
import {
  afterFailureOf,
  eventOf,
  limitsOf,
  REVISION,
  revisionOf,
  uidOf,
  WORKFLOWS,
  type Limits,
} from '../workflows.ts';

export type Operator = ReturnType<typeof createOperator>;

export function createOperator(harness: Harness) {
  const { project, store, records, limits, resumed, nextMillisecond } = harness;
  const conn = store.connect();
  const context = contextOf(harness, { conn });
  /** Of the seeding that this operator began last. */
  let progress = newSeedProgress();
  let isSeeding = false;
  const source: SeedSource = {
    served: async () =>
      WORKFLOWS.map((workflow) => ({
        revision: { name: revisionOf(workflow), revision: REVISION },
        limits: limitsOf(workflow, limits.get(workflow) ?? { limit: 0, policy: 'Queue', suspended: true }),
      })),
    keys: () => [...records.objects.values()].flatMap(keyOf),
    unfinished: () => unfinished(harness, context),
  };

  return {
    seed: () =>
      untilRefused(async () => {
        // Two at once in one process are one.
        if (isSeeding) return;
        isSeeding = true;
        const seeded = await seedProject(conn, project, source, progress).finally(() => (isSeeding = false));
        if (seeded.outcome === 'done') progress = newSeedProgress();
      }),
    limit: async (workflow: string, wanted: Limits) => {
      limits.set(workflow, wanted);
      await setWorkflowLimits(conn, project, limitsOf(workflow, wanted));
    },
    quotas: async (quotas: Partial<Quotas>) => void (await setQuotas(conn, project, quotas)),
    budget: async (perSecond: number) => void (await setWriteBudget(conn, project, perSecond)),
    /** Submits the objects that nobody has taken up, and repairs those that the store does not know. */
    reconcile: (name: string) =>
      untilRefused(async () => {
        const object = records.objects.get(name);
        if (!object || isTerminal(object.status?.phase)) return;
        if (isNew(object)) await submitObject(harness, conn, object);
        else await recoverIfLost(context, object);
      }),
    /** Submits a run that resumes the failed one, once. Its user knows what became of its effects. */
    resume: (index: number) =>
      untilRefused(async () => {
        const names = failedRuns(harness).filter((name) => !resumed.has(name));
        const name = names[index % names.length] ?? '';
        const failed = store.state().runs[name]?.head ?? store.state().kept[name]?.head;
        const workflow = failed === undefined ? records.objects.get(name)?.spec.workflow : workflowIn(failed);
        if (workflow === undefined || resumed.has(name)) return;
        const submission = await planOf(harness, context, { name, workflow });
        if (!submission || resumed.has(name)) return;
        resumed.add(name);
        await nextMillisecond();
        await submit(conn, submission);
      }),
    /** Puts a run back after what was read of it some time ago: the call was delayed. */
    restore: (name: string, version: number) =>
      untilRefused(async () => {
        const versions = records.versions(name);
        const object = versions[version % versions.length];
        const plan = object && (await planFor(context, object));
        if (plan?.kind === 'restore') await restoreRun(conn, project, plan.run);
      }),
  };
}

/** What the API server or the store refuses is tried again, with a later step. */
async function untilRefused(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof WaitingError)) throw error;
  }
}

async function submitObject(
  { project, ledger, problems }: Harness,
  conn: RecoveryContext['conn'],
  { metadata: { name, uid = '' }, spec }: WorkflowRun,
): Promise<void> {
  const changes = { run: name, recordUid: uid, trigger: 'execute' };
  const told = ledger.asked(`object ${uid}`);
  const answer = await submit(conn, eventOf(project, spec.workflow, changes));
  if (answer.outcome === 'accepted') problems.push(...told(answer.run));
}

/** In the store, kept by it, or recorded. */
function failedRuns({ store, records }: Harness): string[] {
  const { runs, kept } = store.state();
  const stored = Object.entries(runs).filter(([, { phase }]) => phase === 'Failed');
  const recorded = [...records.objects].filter(([, { status }]) => status?.phase === 'Failed');
  return [...new Set([...stored, ...recorded].map(([name]) => name).concat(Object.keys(kept)))].toSorted();
}

const workflowIn = (head: string) => (JSON.parse(head) as { workflow: string }).workflow;

/** A run that resumes the failed one; undefined where that is not possible. */
async function planOf(
  { project, ledger }: Harness,
  context: RecoveryContext,
  { name, workflow }: { name: string; workflow: string },
): Promise<Submission | undefined> {
  const run = (decisions: NonNullable<WorkflowRun['spec']['decisions']>) =>
    ({
      metadata: { name: '', namespace: 'model' },
      spec: { workflow, retryOf: name, resume: true, decisions },
    }) as WorkflowRun;
  const origin = await findOrigin(context, run([]), routeOf(project, workflow).spec);
  if ('reason' in origin || origin.test) return undefined;
  const plain = await resumeFrom(context, run([]), origin, REVISION);
  const isOpen = 'reason' in plain && plain.reason === 'DecisionMissing';
  const outcome = ledger.isDone(name, 'mail') ? ('AssumeDone' as const) : ('AssumeNotDone' as const);
  const plan = isOpen ? await resumeFrom(context, run([{ node: 'mail', outcome }]), origin, REVISION) : plain;
  if ('reason' in plan) return undefined;
  const { input, resumed } = plan;
  return eventOf(project, workflow, { input, resumed, retryOf: name, trigger: 'execute' });
}

/** As the operator reads them from its cache. */
function keyOf(object: WorkflowRun) {
  const mark = dedupeMarkOf(object.metadata.annotations);
  const workflowUid = controllerOf(object)?.uid;
  if (!mark || workflowUid === undefined) return [];
  return [{ ...mark, workflowUid, run: object.metadata.name }];
}

async function* unfinished(
  { project, records }: Harness,
  context: RecoveryContext,
): ReturnType<SeedSource['unfinished']> {
  for (const name of Array.from(records.objects.keys())) {
    const object = structuredClone(records.objects.get(name));
    if (!object || isTerminal(object.status?.phase)) continue;
    const plan = await planFor(context, object);
    if (plan.kind === 'restore') yield [plan];
    if (plan.kind === 'end') await endLost(context, project, object, plan.ending);
  }
}

function workflowObject(name: string) {
  return {
    metadata: { name, namespace: 'model', uid: uidOf(name) },
    spec: { onFailure: { workflow: afterFailureOf(name) } },
  };
}

function routeOf(project: string, workflow: string): { spec: WebhookRoute['spec'] } {
  const spec = { projectUID: project, workflowUID: uidOf(workflow), revision: revisionOf(workflow) };
  return { spec: spec as WebhookRoute['spec'] };
}

/** What of the operator's context these steps use. */
function contextOf(
  { project, store, records }: Harness,
  { conn }: Pick<RecoveryContext, 'conn'>,
): RecoveryContext {
  const nothing = () => undefined;
  const open = async () => {
    const id = await storeId(conn, project);
    if (isUnavailable(id)) return id;
    if (id !== undefined) return { outcome: 'done', id };
    return { outcome: 'unavailable', why: 'no-store', retryAfterSeconds: 1 };
  };
  const caches = {
    namespaces: { get: () => ({ metadata: { uid: project } }) },
    workflows: {
      get: (_: string, name: string) => workflowObject(name),
      getFresh: async (_: string, name: string) => ({ metadata: { uid: uidOf(name) } }),
    },
    routes: { get: (_: string, name: string) => routeOf(project, name) },
    runs: {
      resource: workflowRuns,
      noteWrite: nothing,
      get: (_: string, name: string) => records.objects.get(name),
    },
  };
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const clock = { date: () => new Date(store.now()), now: () => store.now() };
  const pacer = { take: () => Promise.resolve() };
  const config = {};
  const parts = { config, conn, client: records.client, caches, store: { open }, pacer, log, clock };
  return parts as unknown as RecoveryContext;
}
