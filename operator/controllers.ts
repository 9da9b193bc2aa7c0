/** Every controller of the operator: what wakes it, and what it does. This file alone knows all of them. */
import { LABEL } from '../api/group.ts';
import type { Credential, WebhookRoute, Workflow } from '../api/kinds.ts';
import { isTerminal } from '../api/phase.ts';
import type { Change } from '../kube/cache.ts';
import type { Clock } from '../kube/clock.ts';
import { enqueueOwner, keyOf, runController, watchInto, type Action, type Key } from '../kube/controller.ts';
import { createRecorder, type Recorder } from '../kube/events.ts';
import { createQueue, type Queue } from '../kube/queue.ts';
import { objectKey, type Deployment, type KubeObject, type Namespace } from '../kube/resource.ts';
import { recordDeletions } from './shared/audit.ts';
import { wantedBot } from './bots/route.ts';
import { keepBudget } from './budget/keep.ts';
import { prunesPerSecond } from './budget/split.ts';
import type { OperatorContext } from './shared/context.ts';
import { reconcileCredential } from './credential/controller.ts';
import { checkWish, isWished } from './credential/wish.ts';
import type { OperatorMetrics } from './metrics.ts';
import { createPacer } from './shared/pacer.ts';
import { createPollReconciler } from './poll/controller.ts';
import { POLL } from './shared/names.ts';
import { changesPool, hasRunner } from './project/readiness.ts';
import { createProjectReconciler } from './project/controller.ts';
import { changesRollout } from './pods/rollout.ts';
import { reconcileSettings } from './settings/controller.ts';
import { isMarked } from './registration/finalizer.ts';
import { createRegistrationReconciler, isTelegram } from './registration/controller.ts';
import { isNew, isToBeCancelled } from './run/decide.ts';
import { createRunReconciler } from './run/controller.ts';
import { createCountsReconciler, type CountsReconciler } from './counts/controller.ts';
import { isOfInterest } from './schedule/failing.ts';
import { createFailureReports } from './counts/failures.ts';
import { reconcileHistory } from './history/controller.ts';
import { reconcileWorkflow } from './workflow/controller.ts';
import { credentialRefs } from './shared/credentialRefs.ts';
import { deleteRuns } from './store/deleteRuns.ts';
import { watchStore } from './store/watch.ts';
import { BY_CREDENTIAL, BY_UID, BY_WORKFLOW, inNamespaceOf, type Caches, projectOf } from './shared/caches.ts';

type Controller = { name: string; queue: Queue; reconcile: (key: Key) => Promise<Action> };

export type Controllers = {
  /** Works until the signal is aborted; resolves when the last reconcile has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks at every project again: the run store is back, and may have lost something. */
  recheckProjects(): void;
  /** Reconciles every workflow of the namespace. */
  wakeNamespace(namespace: string): void;
};

/** One for each controller, with how many reconciles it may have under way. */
function createQueues(clock: Clock) {
  const queueOf = (concurrency: number): Queue => createQueue({ concurrency, clock });
  return {
    workflow: queueOf(8),
    project: queueOf(4),
    settings: queueOf(2),
    credential: queueOf(4),
    connection: queueOf(16),
    registration: queueOf(4),
    run: queueOf(8),
    history: queueOf(2),
    counts: queueOf(2),
    poll: queueOf(2),
  };
}

/** Creates the controllers. Their queues fill from now on, with all that is there; nothing is done before `run`. */
export function createControllers(context: OperatorContext, metrics: OperatorMetrics): Controllers {
  const { caches, clock, config, log } = context;
  const queues = createQueues(clock);
  const events = createRecorder(context.client, 'windlass.dev/operator', { log, clock });
  // With a rate of their own, so that failing workflows leave room for all other Events.
  const failures = createRecorder(context.client, 'windlass.dev/operator', { log, clock });
  const counts = createCountsReconciler(context, createFailureReports(failures, clock), (key) =>
    queues.workflow.add(objectKey(key)),
  );
  const pacer = createPacer(prunesPerSecond(config.RECORD_WRITES_PER_SECOND), clock);
  const wakers = createWakers(context, queues);
  const { wakeProject, wakeOpenRuns, onLost, onRights, onSettings, onRestart } = wakers;
  const controllers: Controller[] = [
    { name: 'workflow', queue: queues.workflow, reconcile: (key) => reconcileWorkflow(context, events, key) },
    {
      name: 'project',
      queue: queues.project,
      reconcile: createProjectReconciler(context, { onLost, onRights, onSettings }),
    },
    { name: 'settings', queue: queues.settings, reconcile: (key) => reconcileSettings(context, events, key) },
    {
      name: 'credential',
      queue: queues.credential,
      reconcile: (key) => reconcileCredential(context, events, key),
    },
    { name: 'connection', queue: queues.connection, reconcile: context.connections.reconcile },
    {
      name: 'registration',
      queue: queues.registration,
      reconcile: createRegistrationReconciler(context, {
        events,
        onChange: (key) => wakers.wakeUsers(key),
      }),
    },
    { name: 'run', queue: queues.run, reconcile: createRunReconciler(context, pacer) },
    { name: 'history', queue: queues.history, reconcile: (key) => reconcileHistory(context, pacer, key) },
    { name: 'counts', queue: queues.counts, reconcile: (key) => counts.reconcile(key) },
    {
      name: 'poll',
      queue: queues.poll,
      reconcile: createPollReconciler(context, {
        events,
        onHealth: (key) => queues.workflow.add(objectKey(key)),
        metrics: metrics.polls,
      }),
    },
  ];
  wakeWorkflows(context, queues.workflow);
  noteGoneWorkflows(context);
  recordDeletions(context);
  wakeProjects(caches, queues.project);
  wakeSettings(caches, queues);
  wakeCredentials(caches, queues.credential);
  wakeConnections(context, queues, events);
  wakeRegistrations(caches, queues);
  wakeRuns(caches, queues.run);
  // An operator before this one may have been ended between putting a store back and ending what it lost.
  wakeOpenRuns();
  wakeHistory(caches, queues.history);
  wakeCounts(caches, queues.counts, counts);
  wakePolls(caches, queues);
  metrics.watchDeletions(() => context.store.deletions.list().reduce((sum, { left }) => sum + left, 0));
  for (const { name, queue } of controllers) metrics.watchQueue(name, () => queue.stats());
  return {
    run: async (signal) => {
      const onOutcome =
        (name: string) => (outcome: Parameters<typeof metrics.reconciled>[1], seconds: number) =>
          metrics.reconciled(name, outcome, seconds);
      await Promise.all([
        keepBudget(context, signal),
        deleteRuns(context, { events, onEnd: wakeProject }, signal),
        watchStore(context, { onClosed: wakeProject, onRestart }, signal),
        ...controllers.map((controller) =>
          runController({ ...controller, log, signal, onOutcome: onOutcome(controller.name) }),
        ),
      ]);
    },
    recheckProjects: wakers.recheckProjects,
    wakeNamespace: wakers.wakeNamespace,
  };
}

/** What wakes more than the one object that changed. */
function createWakers(
  { caches, store, log }: OperatorContext,
  queues: Record<'workflow' | 'project' | 'settings' | 'credential' | 'registration' | 'run', Queue>,
) {
  const wakeNamespace = (namespace: string): void => {
    for (const { metadata } of caches.workflows.list(namespace)) queues.workflow.add(objectKey(metadata));
  };
  const wakeOpenRuns = (namespace?: string): void => {
    for (const { metadata, status } of caches.runs.list(namespace))
      if (!isTerminal(status?.phase)) queues.run.add(objectKey(metadata));
  };
  const wakeProject = (namespace: string): void => queues.project.add(namespace);
  const recheckProjects = (): void => projectsOf(caches).forEach(wakeProject);
  return {
    /** The workflows that name a credential. */
    wakeUsers: (credential: Key): void => {
      for (const { metadata } of caches.workflows.byIndex(BY_CREDENTIAL, objectKey(credential)))
        queues.workflow.add(objectKey(metadata));
    },
    wakeProject,
    wakeNamespace,
    wakeOpenRuns,
    recheckProjects,
    onLost: (namespace: string): void => {
      log.warn({ namespace }, 'the run store lost the data of a project, putting it back');
      wakeNamespace(namespace);
      wakeOpenRuns(namespace);
    },
    onRights: (namespace: string): void => {
      wakeNamespace(namespace);
      for (const credential of caches.credentials.list(namespace)) {
        queues.credential.add(objectKey(credential.metadata));
        if (isTelegram(credential)) queues.registration.add(objectKey(credential.metadata));
      }
    },
    onSettings: (namespace: string): void => {
      for (const { metadata } of caches.settings.list(namespace)) queues.settings.add(objectKey(metadata));
    },
    onRestart: (): void => {
      log.info({}, 'the run store was started anew, looking whether it lost something');
      store.doubt();
      recheckProjects();
      wakeOpenRuns();
    },
  };
}

type ToKeys = (object: KubeObject) => readonly Key[];

const ownKey: ToKeys = (object) => [keyOf(object)];
const projectKey: ToKeys = ({ metadata }) => [{ namespace: '', name: metadata.namespace ?? '' }];

/** Leaves out changes that touched the status or the metadata alone, which we mostly wrote ourselves. */
function ifSpecChanged<T extends KubeObject>(keys: (object: T) => readonly Key[]) {
  return (object: T, change: Change<T>): readonly Key[] => {
    const isSame =
      change.type === 'updated' &&
      change.old.metadata.generation === change.object.metadata.generation &&
      change.old.metadata.deletionTimestamp === change.object.metadata.deletionTimestamp;
    return isSame ? [] : keys(object);
  };
}

function wakeWorkflows({ caches, gateways }: OperatorContext, queue: Queue): void {
  const inNamespace = (namespace: string): Key[] => caches.workflows.list(namespace).map(keyOf);
  watchInto(caches.workflows, queue);
  watchInto(caches.routes, queue);
  wakeBots(caches, queue);
  watchInto(caches.revisions, queue, enqueueOwner('Workflow'));
  watchInto(caches.cronJobs, queue, (cronJob, change) =>
    enqueueOwner('Workflow')(cronJob).filter(({ namespace, name }) =>
      isOfInterest(change, caches.workflows.get(namespace, name)),
    ),
  );
  watchInto(caches.credentials, queue, (credential) =>
    caches.workflows.byIndex(BY_CREDENTIAL, inNamespaceOf(credential, credential.metadata.name)).map(keyOf),
  );
  watchInto(caches.deployments, queue, ({ metadata }, change) =>
    change.type !== 'updated' || changesPool(change.old, change.object)
      ? inNamespace(metadata.namespace ?? '')
      : [],
  );
  watchInto(caches.namespaces, queue, ({ metadata }, change) =>
    mayChangeAccess(change) ? inNamespace(metadata.name) : [],
  );
  gateways.onChange((changed) => {
    const routes =
      changed === 'all' ? caches.routes.list() : changed.flatMap((uid) => caches.routes.byIndex(BY_UID, uid));
    for (const { metadata } of routes) queue.add(objectKey(metadata));
  });
}

/** Whether the namespace is new, or its label that refuses public webhooks changed. */
function mayChangeAccess(change: Change<Namespace>): boolean {
  if (change.type === 'deleted') return false;
  const label = ({ metadata }: Namespace): string | undefined => metadata.labels?.[LABEL.requireAuth];
  return change.type === 'added' || label(change.old) !== label(change.object);
}

/** Whoever lets go of a bot makes room for another workflow of the project. */
function wakeBots(caches: Caches, queue: Queue): void {
  const waiting = (namespace = ''): Key[] =>
    caches.workflows
      .list(namespace)
      .filter((workflow) => wantedBot(workflow))
      .map(keyOf);
  watchInto(caches.routes, queue, (_route, change) =>
    hadBot(change) ? waiting(change.object.metadata.namespace) : [],
  );
  watchInto(
    caches.workflows,
    queue,
    ifSpecChanged(({ metadata, spec }) =>
      spec.nodes.some((node) => node.bot) ? waiting(metadata.namespace) : [],
    ),
  );
}

/** Whether a route had a bot and has not any more, or not the same. */
function hadBot(change: Change<WebhookRoute>): boolean {
  if (change.type === 'added') return false;
  const { bot } = change.type === 'updated' ? change.old.spec : change.object.spec;
  return (
    bot !== undefined && (change.type === 'deleted' || bot.credential !== change.object.spec.bot?.credential)
  );
}

/**
 * A deleted workflow's route may already be gone, and events may have come in until then.
 * Both objects say which workflow it was. Comes before the projects are woken, which keep the runners until its runs have ended.
 */
function noteGoneWorkflows({ caches, store }: OperatorContext): void {
  caches.workflows.onChange(({ type, object: { metadata } }) => {
    const project = projectOf(caches, metadata.namespace);
    const { uid: workflowUid = '', name } = metadata;
    if (type === 'deleted' && project !== undefined) store.noteGone({ project, workflowUid, name });
  });
  caches.routes.onChange(({ type, object: { metadata, spec } }) => {
    const workflow = caches.workflows.get(metadata.namespace, spec.workflow);
    // A route that somebody deleted comes back, and its runs go on.
    const isGone = type === 'deleted' && workflow?.metadata.uid !== spec.workflowUID;
    const { projectUID: project, workflowUID: workflowUid, workflow: name } = spec;
    // Of a namespace that is gone everything goes.
    const isOpen = projectOf(caches, metadata.namespace) === project;
    if (isGone && isOpen) store.noteGone({ project, workflowUid, name });
  });
}

function wakeProjects(caches: Caches, queue: Queue): void {
  watchInto(caches.routes, queue, ifSpecChanged(projectKey));
  watchInto(caches.workflows, queue, ifSpecChanged(projectKey));
  watchInto(caches.credentials, queue, ifSpecChanged(projectKey));
  // Who is asked to try one that no workflow names must be there, and may read its Secrets until it is done.
  watchInto(caches.credentials, queue, (credential, change) =>
    change.type === 'updated' && isWished(change.old) !== isWished(credential) ? projectKey(credential) : [],
  );
  watchInto(caches.deployments, queue, ifSpecChanged(projectKey));
  watchInto(caches.namespaces, queue, ownKey);
}

/** Settings change the pool, the CronJobs of schedules, and what counts for workflows that leave it out. */
function wakeSettings(
  caches: Caches,
  { settings, project, workflow, history }: Record<'settings' | 'project' | 'workflow' | 'history', Queue>,
): void {
  watchInto(caches.settings, settings, ifSpecChanged(ownKey));
  watchInto(caches.settings, project, ifSpecChanged(projectKey));
  watchInto(caches.deployments, settings, ({ metadata }, change) =>
    change.type !== 'updated' || changesRollout(change.old, change.object)
      ? caches.settings.list(metadata.namespace).map(keyOf)
      : [],
  );
  const workflowKeys: ToKeys = ({ metadata }) => caches.workflows.list(metadata.namespace).map(keyOf);
  for (const queue of [workflow, history]) watchInto(caches.settings, queue, ifSpecChanged(workflowKeys));
}

/** Runners check credentials that workflows reference. */
function wakeCredentials(caches: Caches, queue: Queue): void {
  watchInto(caches.credentials, queue, ifSpecChanged(ownKey));
  watchInto(caches.credentials, queue, (credential, change) =>
    change.type === 'updated' && checkWish(change.old) !== checkWish(credential) ? ownKey(credential) : [],
  );
  const named = ({ metadata, spec }: Workflow): Key[] =>
    credentialRefs(spec).map(({ name }) => ({ namespace: metadata.namespace ?? '', name }));
  watchInto(caches.workflows, queue, ifSpecChanged(named));
  watchInto(caches.deployments, queue, ({ metadata }, change) =>
    turnedAvailable(change) ? caches.credentials.list(metadata.namespace).map(keyOf) : [],
  );
}

/** Whether a pool has runners now and had none before, or the other way round. */
function turnedAvailable(change: Change<Deployment>): boolean {
  return change.type !== 'updated' || hasRunner(change.old) !== hasRunner(change.object);
}

/** Requested OAuth scopes follow the workflows. */
function wakeConnections(
  { caches, connections }: OperatorContext,
  { connection, credential: credentialQueue }: Record<'connection' | 'credential', Queue>,
  events: Recorder,
): void {
  connections.follow({
    events,
    onChange: (key) => credentialQueue.add(objectKey(key)),
    onBrought: (key) => connection.add(objectKey(key)),
  });
  watchInto(
    caches.credentials,
    connection,
    ifSpecChanged((credential) => (credential.spec.oauth2 ? [keyOf(credential)] : [])),
  );
  const named = ({ metadata: { namespace = '' }, spec }: Workflow): Key[] =>
    credentialRefs(spec)
      .filter(({ name }) => caches.credentials.get(namespace, name)?.spec.oauth2)
      .map(({ name }) => ({ namespace, name }));
  watchInto(caches.workflows, connection, ifSpecChanged(named));
}

/** Where the updates of a bot go depends on its Credential, and on the route that has it; whoever can register it is a runner. */
function wakeRegistrations(
  caches: Caches,
  { registration, project }: Record<'registration' | 'project', Queue>,
): void {
  const isOfBot = (credential: Credential): boolean => isTelegram(credential) || isMarked(credential);
  watchInto(
    caches.credentials,
    registration,
    ifSpecChanged((credential) => (isOfBot(credential) ? [keyOf(credential)] : [])),
  );
  watchInto(
    caches.routes,
    registration,
    ifSpecChanged(({ metadata: { namespace = '' }, spec }) =>
      spec.bot ? [{ namespace, name: spec.bot.credential }] : [],
    ),
  );
  const botsOf = (namespace?: string): Key[] => caches.credentials.list(namespace).filter(isOfBot).map(keyOf);
  watchInto(caches.deployments, registration, ({ metadata }, change) =>
    turnedAvailable(change) ? botsOf(metadata.namespace) : [],
  );
  watchInto(caches.namespaces, registration, ({ metadata: { name, deletionTimestamp } }) =>
    deletionTimestamp === undefined ? [] : botsOf(name),
  );
  // While one is marked there are runners for it.
  watchInto(caches.credentials, project, (credential, change) =>
    change.type === 'updated' && isMarked(change.old) !== isMarked(change.object)
      ? projectKey(credential)
      : [],
  );
}

function wakeRuns(caches: Caches, queue: Queue): void {
  watchInto(caches.runs, queue, (run, { type }) => {
    const isCutOff = type === 'deleted' && !isTerminal(run.status?.phase);
    return isCutOff || isNew(run) || isToBeCancelled(run) ? [keyOf(run)] : [];
  });
  // Runs may wait for their workflow.
  watchInto(caches.routes, queue, (route) =>
    caches.runs.byIndex(BY_WORKFLOW, inNamespaceOf(route, route.spec.workflow)).filter(isNew).map(keyOf),
  );
}

function wakePolls(caches: Caches, { poll, project }: Record<'poll' | 'project', Queue>): void {
  watchInto(caches.routes, poll, ifSpecChanged(ownKey));
  watchInto(
    caches.cronJobs,
    project,
    ifSpecChanged((cronJob) => (cronJob.metadata.name === POLL ? projectKey(cronJob) : [])),
  );
}

function wakeHistory(caches: Caches, queue: Queue): void {
  const workflowKey = (namespace: string | undefined, name: string): Key => ({
    namespace: namespace ?? '',
    name,
  });
  watchInto(caches.runs, queue, ({ metadata, spec, status }) =>
    isTerminal(status?.phase) ? [workflowKey(metadata.namespace, spec.workflow)] : [],
  );
  watchInto(caches.workflows, queue, ifSpecChanged(ownKey));
}

function wakeCounts(caches: Caches, queue: Queue, counts: CountsReconciler): void {
  watchInto(caches.routes, queue, ifSpecChanged(ownKey));
  watchInto(caches.runs, queue, ({ metadata, spec }) => {
    const key = { namespace: metadata.namespace ?? '', name: spec.workflow };
    return counts.mayWrite(key) ? [key] : [];
  });
}

function projectsOf(caches: Caches): Set<string> {
  return new Set(caches.routes.list().map(({ metadata }) => metadata.namespace ?? ''));
}
