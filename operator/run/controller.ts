/**
 * Submits WorkflowRuns that were created as objects: each gets the labels and the owner of a record, and is
 * submitted once, under its own name and uid. Then runners record it. A run that cannot be submitted ends as
 * Failed, with a reason. Cancellations, and deletions of unfinished runs, are forwarded to the run store.
 */
import { createHash } from 'node:crypto';
import type { WebhookRoute, Workflow, WorkflowRun } from '../../api/kinds.ts';
import type { Testing } from '../../api/mock.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { RouteSpec } from '../../api/route.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import { isTerminal } from '../../api/phase.ts';
import { objectKey } from '../../kube/resource.ts';
import { submit } from '../../runs/submit.ts';
import type { Resumed, Submission } from '../../runs/types/submission.ts';
import type { NamedRevision } from '../shared/revisions.ts';
import { recordSubmission } from './audit.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Pacer } from '../shared/pacer.ts';
import { workflowRuns } from '../shared/resources.ts';
import type { Pools } from '../pods/pools.ts';
import { isAccepted } from './accepted.ts';
import { adopt } from './adopt.ts';
import { cancel, cancelDeleted, type RunState } from './cancel.ts';
import { decide, isNew, isToBeCancelled, suspended } from './decide.ts';
import { replaceDraft } from './draft.ts';
import { writePending } from './end.ts';
import { misfit } from './fit.ts';
import { lacksSecrets } from './grantedSecrets.ts';
import { givenInput } from './input.ts';
import { awaitEvent, offer, openTestRoute, type ListenContext } from './listen.ts';
import { refuse, type Refusal } from './refuse.ts';
import { findOrigin, resumeFrom } from './resume.ts';
import { recoverIfLost } from './recovery.ts';
import { revisionFor } from './storedRevision.ts';
import { takeBack } from './takeBack.ts';
import { BY_PARENT, BY_WORKFLOW, inNamespaceOf, type Caches } from '../shared/caches.ts';
import { subscribe, watch, type Controller, type Watch } from '../shared/controller.ts';
import type { StoreChanges } from '../store/changes.ts';
import type { ProjectStore } from '../store/types.ts';
import { unreachable } from '../shared/errors.ts';

const WAIT_MS = 1_000;
const SECRETS_MS = 200;
/** After this time the run fails at the node whose credential cannot be read, and says so. */
const SECRETS_PATIENCE_MS = 10_000;

type RunContext = ListenContext & {
  store: Pick<ProjectStore, 'open'>;
  storeChanges: Pick<StoreChanges, 'lost' | 'restarted'>;
  pacer: Pacer;
  runs: RunState;
  pools: Pick<Pools, 'grantedSecrets'>;
};

const unfinished = ({ runs }: Caches, namespace?: string): Key[] =>
  runs
    .list(namespace)
    .filter(({ status }) => !isTerminal(status?.phase))
    .map(keyOf);

/** An earlier operator may have stopped after it restored a run store and before it ended lost runs. */
const watchUnfinished: Watch<RunContext> = ({ caches }, queue) => {
  for (const key of unfinished(caches)) queue.add(objectKey(key));
};

const watchDeleted: Watch<RunContext> = ({ caches, runs }) => {
  caches.runs.onChange(({ type, object }) => {
    if (type !== 'deleted') return;
    runs.seenAt.delete(object.metadata.uid ?? '');
    runs.cancelled.delete(object.metadata.uid ?? '');
    runs.missingSince.delete(object.metadata.uid ?? '');
    if (!isTerminal(object.status?.phase)) runs.deleted.set(objectKey(object.metadata), object);
  });
};

/**
 * The unfinished children of a run that has just ended. The run store cancels those that it knows of at the
 * end of their parent: a child that was restored later is left.
 */
const watchParents = watch(
  ({ runs }) => runs,
  (run, change, { runs }) => {
    const hasEnded =
      change.type === 'deleted' ||
      (change.type === 'updated' && isTerminal(run.status?.phase) && !isTerminal(change.old.status?.phase));
    if (!hasEnded) return [];
    const children = runs.byIndex(BY_PARENT, inNamespaceOf(run, run.metadata.name));
    return children.filter(({ status }) => !isTerminal(status?.phase)).map(keyOf);
  },
);

export const runController: Controller<RunContext> = {
  name: 'run',
  concurrency: 8,
  watches: [
    watchDeleted,
    watch(
      ({ runs }) => runs,
      (run, { type }) => {
        const isCutOff = type === 'deleted' && !isTerminal(run.status?.phase);
        return isCutOff || isNew(run) || isToBeCancelled(run) ? [keyOf(run)] : [];
      },
    ),
    // Runs may wait for their workflow.
    watch(
      ({ routes }) => routes,
      (route, _change, { runs }) =>
        runs.byIndex(BY_WORKFLOW, inNamespaceOf(route, route.spec.workflow)).filter(isNew).map(keyOf),
    ),
    watchUnfinished,
    watchParents,
    subscribe(
      ({ storeChanges }: RunContext) => storeChanges.lost,
      (namespace, caches) => unfinished(caches, namespace),
    ),
    subscribe(
      ({ storeChanges }: RunContext) => storeChanges.restarted,
      (_restarted, caches) => unfinished(caches),
    ),
  ],
  reconcile: reconcileRun,
};

async function reconcileRun(key: Key, context: RunContext): Promise<Action> {
  const { caches, client, clock, runs } = context;
  const deleted = runs.deleted.get(objectKey(key));
  if (deleted) await cancelDeleted(context, deleted);
  runs.deleted.delete(objectKey(key));
  const cached = caches.runs.get(key.namespace, key.name);
  if (!cached || isTerminal(cached.status?.phase)) return done();
  if (!isNew(cached) && !isToBeCancelled(cached)) return recoverIfLost(context, cached);
  // The cache has no input, and may be older than the record of a submitted run.
  const run = await client.find(workflowRuns, key);
  if (!run || run.metadata.deletionTimestamp !== undefined) return done();
  if (isToBeCancelled(run)) return cancel(context, run);
  if (!isNew(run)) return done();
  const { uid = '' } = run.metadata;
  const since = runs.seenAt.get(uid) ?? clock.now();
  runs.seenAt.set(uid, since);
  const action = await submitOrWait(context, run, clock.now() - since);
  if (action.kind === 'done') runs.seenAt.delete(uid);
  return action;
}

async function submitOrWait(context: RunContext, run: WorkflowRun, waitedMs: number): Promise<Action> {
  const { caches } = context;
  const { namespace } = run.metadata;
  const workflow = caches.workflows.get(namespace, run.spec.workflow);
  const route = caches.routes.get(namespace, run.spec.workflow);
  const decision = decide(run, workflow, route, waitedMs);
  // A waiting run is reconciled each second: a refused write must not be repeated as often.
  if (workflow && decision.kind !== 'wait') await adopt(context, run, workflow);
  if (decision.kind !== 'submit' && (await isAccepted(context, run))) {
    // It was submitted before its workflow was deactivated or deleted: it runs, or is cancelled, and runners
    // record that. Runners stay while a run of a deleted workflow is pending.
    if (!workflow && run.status?.phase === undefined) await writePending(context, run, {});
    return done();
  }
  if (decision.kind === 'wait') {
    await noteWait(context, run, decision);
    return after(WAIT_MS);
  }
  if (decision.kind === 'fail')
    return (await takeBack(context, run)) ? refuse(context, run, decision) : after(WAIT_MS);
  return submitToWorkflow(context, run, { workflow, route: decision.route, waitedMs });
}

type Target = { workflow: Workflow | undefined; route: WebhookRoute; waitedMs: number };

async function submitToWorkflow(
  context: RunContext,
  run: WorkflowRun,
  { workflow, route, waitedMs }: Target,
): Promise<Action> {
  if (run.status?.reason !== undefined) await writePending(context, run, {});
  if (run.spec.listenFor !== undefined && workflow)
    return listen(context, run, { workflow, route, waitedMs });
  const drafted = await withoutDraft(context, run, { workflow, route: route.spec });
  if ('reason' in drafted) return refuse(context, run, drafted);
  // The run that was read: the cache may not have the revision of the draft yet.
  if (waitedMs < SECRETS_PATIENCE_MS && lacksSecrets(context, run)) return after(SECRETS_MS);
  return submitRun(context, drafted, route);
}

/** The run with the revision of its draft, if it has one. */
async function withoutDraft(
  context: RunContext,
  run: WorkflowRun,
  { workflow, route }: { workflow: Workflow | undefined; route: RouteSpec },
): Promise<WorkflowRun | Refusal> {
  const { draft } = run.spec;
  return draft && workflow ? replaceDraft(context, run, { draft, workflow, route }) : run;
}

/** Writes what the run waits for, once. */
async function noteWait(
  context: OperatorContext,
  run: WorkflowRun,
  { reason, message = '' }: { reason?: FailureReason; message?: string },
): Promise<void> {
  if (reason === undefined || run.status?.reason === reason) return;
  await writePending(context, run, { reason, message });
}

/** Listens for the event of the run until it came, or its time is over. */
async function listen(
  context: RunContext,
  run: WorkflowRun,
  { workflow, route, waitedMs }: { workflow: Workflow; route: WebhookRoute; waitedMs: number },
): Promise<Action> {
  if (await isAccepted(context, run)) return done();
  if (run.status?.listening) return awaitEvent(context, run, { ...run.status.listening, route });
  const opened = await openTestRoute(context, run, workflow, route.spec);
  if ('reason' in opened) return refuse(context, run, opened);
  const drafted = await withoutDraft(context, run, { workflow, route: route.spec });
  if ('reason' in drafted) return refuse(context, run, drafted);
  if (waitedMs < SECRETS_PATIENCE_MS && lacksSecrets(context, run)) return after(SECRETS_MS);
  return offer(context, drafted, { route, testRoute: opened, waitedMs });
}

async function submitRun(context: OperatorContext, run: WorkflowRun, route: WebhookRoute): Promise<Action> {
  const { projectUID, workflowUID } = route.spec;
  const prepared = run.spec.resume
    ? await prepareResumed(context, run, route)
    : await prepare(context, run, route);
  if ('reason' in prepared) return refuse(context, run, prepared);
  const { revision, input, until, testing, resumed } = prepared;
  const misfitting = misfit(run.spec.workflow, revision, { until, testing });
  if (misfitting) return refuse(context, run, misfitting);
  const { uid = '', name } = run.metadata;
  const submission: Submission = {
    project: projectUID,
    workflow: run.spec.workflow,
    workflowUid: workflowUID,
    revision: revision.name,
    run: name,
    trigger: run.spec.trigger?.type ?? 'execute',
    input,
    // The object is the event: submitted again, it is the same event, even if the test data changed
    // meanwhile.
    bodyHash: createHash('sha256').update(uid).digest('hex'),
    recordUid: uid,
    test: run.spec.test === true,
    ...(run.spec.retryOf !== undefined && { retryOf: run.spec.retryOf }),
    ...(resumed && { resumed }),
    ...(run.spec.requestedBy !== undefined && { requestedBy: run.spec.requestedBy }),
    ...(until !== undefined && { until }),
    ...(testing && { testing }),
  };
  return settle(context, run, submission);
}

type Prepared = {
  revision: NamedRevision;
  input: string;
  until?: string | undefined;
  testing?: Testing | undefined;
  resumed?: Resumed;
};

async function prepare(
  context: OperatorContext,
  run: WorkflowRun,
  route: WebhookRoute,
): Promise<Prepared | Refusal> {
  const chosen = await revisionFor(context, run, route);
  if ('reason' in chosen) return chosen;
  const { revision } = chosen;
  const given = await givenInput(context.client, run, revision.revision);
  return 'reason' in given ? given : { revision, ...given };
}

/** A run that resumes another one executes the same revision. */
async function prepareResumed(
  context: OperatorContext,
  run: WorkflowRun,
  route: WebhookRoute,
): Promise<Prepared | Refusal> {
  const origin = await findOrigin(context, run, route.spec);
  if ('reason' in origin) return origin;
  const chosen = await revisionFor(
    context,
    { ...run, spec: { ...run.spec, revision: origin.revision } },
    route,
  );
  if ('reason' in chosen) {
    const message = `Revision ${origin.revision} of run ${origin.run} no longer exists, so the run cannot be resumed: create a WorkflowRun with retryOf and without resume, which executes the current revision.`;
    return chosen.reason === 'RevisionMissing' ? { reason: chosen.reason, message } : chosen;
  }
  const { revision } = chosen;
  const found = await resumeFrom(context, run, origin, revision.revision);
  return 'reason' in found ? found : { revision, ...found };
}

async function settle(context: OperatorContext, run: WorkflowRun, submission: Submission): Promise<Action> {
  const submitted = await submit(context.conn, submission);
  switch (submitted.outcome) {
    case 'accepted':
      if (!submitted.duplicate) recordSubmission(context, run, { result: 'allowed' });
      return done();
    case 'unavailable':
      throw unreachable(submitted);
    case 'suspended':
      return refuse(context, run, suspended(run.spec.workflow));
    case 'conflict': {
      const message = `The run store still has another run named ${submitted.run}: create this one with another name.`;
      return refuse(context, run, { reason: 'NameTaken', message });
    }
    case 'rejected': {
      const message = `${submitted.limit} runs of the workflow already execute, and its concurrency policy is Reject: try again when one has ended.`;
      return refuse(context, run, { reason: 'ConcurrencyLimit', message });
    }
  }
}
