/**
 * Keeps the runner pool of a project, which is a namespace, as its workflows need it: the account in the run
 * store, the Secret with it, rights and Deployment. Objects and account are applied when they change, and
 * compared again later (`drift.ts`). A lost account is noticed earlier (`../store/lostAccounts.ts`).
 */
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import { isForbidden, isInvalid, isTerminating } from '../../kube/errors.ts';
import { isTerminal } from '../../api/phase.ts';
import { canonicalJson } from '../../kube/json.ts';
import { closeProject } from '../../runs/project.ts';
import { newScan } from '../../store/scan.ts';
import { isCheckRequested } from '../credential/requestedCheck.ts';
import type { AppliedSettings, PoolRefusal, Pools } from '../pods/pools.ts';
import { changesRollout, readPodProblem } from '../pods/rollout.ts';
import type { Polls } from '../poll/polls.ts';
import { hasFinalizer } from '../registration/finalizer.ts';
import type { Caches } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import {
  ifSpecChanged,
  ownKey,
  projectKey,
  subscribe,
  watch,
  type Controller,
} from '../shared/controller.ts';
import { explainRefusal, unreachable } from '../shared/errors.ts';
import { POLL, POOL } from '../shared/names.ts';
import { hasNoReplicas, isAsleep } from '../scaling/asleep.ts';
import type { ScalingState } from '../scaling/state.ts';
import { settingsOf } from '../shared/projectSettings.ts';
import { isOfDraft } from '../shared/revisions.ts';
import type { StoreChanges } from '../store/changes.ts';
import type { ProjectStore } from '../store/types.ts';
import { hasOpenRuns, needsPool } from './needs.ts';
import { mayChange, olderCredentials } from './olderCredentials.ts';
import { deletePool, ensurePool, type Project } from './pool.ts';
import type { Projects } from './projects.ts';

/** While runs of earlier revisions may end. */
const OLDER_CHECK_MS = 30_000;
/** While the pool has not rolled out. */
const ROLLOUT_CHECK_MS = 10_000;
const DRAIN_CHECK_MS = 10_000;

type ProjectContext = OperatorContext & {
  store: Pick<ProjectStore, 'check' | 'deletions' | 'forget'>;
  storeChanges: Pick<StoreChanges, 'project' | 'reconnected' | 'restarted' | 'lost'>;
  polls: Pick<Polls, 'refusals' | 'polling' | 'pollingChanged'>;
  pools: Pools;
  projects: Projects;
  scaling: Pick<
    ScalingState,
    'asleep' | 'waking' | 'decided' | 'changed' | 'refusals' | 'otherScalersChanged'
  >;
};

const projectNamed = (name: string): Key[] => [{ namespace: '', name }];
const allProjects = ({ routes }: Caches): Key[] => routes.list().flatMap(projectKey);

export const projectController: Controller<ProjectContext> = {
  name: 'project',
  concurrency: 4,
  watches: [
    watch(({ routes }) => routes, ifSpecChanged(projectKey)),
    watch(({ workflows }) => workflows, ifSpecChanged(projectKey)),
    watch(({ credentials }) => credentials, ifSpecChanged(projectKey)),
    // A requested check, and a registered bot, need a runner that may read the Secrets.
    watch(
      ({ credentials }) => credentials,
      (credential, change) =>
        change.type === 'updated' &&
        (isCheckRequested(change.old) !== isCheckRequested(change.object) ||
          hasFinalizer(change.old) !== hasFinalizer(change.object))
          ? projectKey(credential)
          : [],
    ),
    // A run of an earlier revision or of a draft may need credentials that no workflow names now.
    watch(
      ({ revisions }) => revisions,
      (revision, { type }) => (type === 'added' && isOfDraft(revision) ? projectKey(revision) : []),
    ),
    watch(
      ({ runs }) => runs,
      ifSpecChanged((run) =>
        run.spec.revision !== undefined && !isTerminal(run.status?.phase) ? projectKey(run) : [],
      ),
    ),
    watch(({ deployments }) => deployments, ifSpecChanged(projectKey)),
    // The pod of a lost runner says why it cannot start.
    watch(
      ({ deployments }) => deployments,
      (pool, change) =>
        change.type === 'updated' && changesRollout(change.old, change.object) ? projectKey(pool) : [],
    ),
    watch(({ namespaces }) => namespaces, ownKey),
    watch(({ settings }) => settings, ifSpecChanged(projectKey)),
    watch(
      ({ cronJobs }) => cronJobs,
      ifSpecChanged((cronJob) => (cronJob.metadata.name === POLL ? projectKey(cronJob) : [])),
    ),
    subscribe(({ storeChanges }: ProjectContext) => storeChanges.project, projectNamed),
    subscribe(({ scaling }: ProjectContext) => scaling.changed, projectNamed),
    subscribe(({ polls }: ProjectContext) => polls.pollingChanged, projectNamed),
    subscribe(
      ({ projects }: ProjectContext) => projects.authorityChanged,
      (_changed, { deployments }) => deployments.list().flatMap(projectKey),
    ),
    subscribe(
      ({ storeChanges }: ProjectContext) => storeChanges.reconnected,
      (_reconnected, caches) => allProjects(caches),
    ),
    subscribe(
      ({ storeChanges }: ProjectContext) => storeChanges.restarted,
      (_restarted, caches) => allProjects(caches),
    ),
  ],
  reconcile: reconcileProject,
};

async function reconcileProject({ name: namespace }: Key, context: ProjectContext): Promise<Action> {
  const { caches, pools, polls } = context;
  const granted = pools.grantedSecrets.get(namespace);
  const refused = polls.refusals.get(namespace)?.message;
  const { uid, generation } = settingsOf(caches, namespace)?.metadata ?? {};
  try {
    const { action, ...applied } = await reconcilePool(context, namespace);
    noteSettings(pools, namespace, { uid, generation, ...applied });
    if (pools.refusals.delete(namespace)) pools.accessChanged.notify(namespace);
    return action;
  } catch (error) {
    if (isTerminating(error)) return done();
    const blocked = refusalOf(error);
    if (blocked === undefined) throw error;
    noteSettings(pools, namespace, { uid, generation, blocked });
    const isNew = pools.refusals.get(namespace)?.message !== blocked.message;
    pools.refusals.set(namespace, blocked);
    if (isNew) pools.accessChanged.notify(namespace);
    throw error;
  } finally {
    // Also after a later failure: the next attempt finds no change to notify.
    const isRefused = polls.refusals.get(namespace)?.message;
    if (pools.grantedSecrets.get(namespace) !== granted || isRefused !== refused)
      pools.accessChanged.notify(namespace);
  }
}

/** Undefined for errors that are no response to an object of the pool, such as an outage. */
function refusalOf(error: unknown): PoolRefusal | undefined {
  if (isForbidden(error)) return { reason: 'Unauthorized', message: explainRefusal(error) };
  if (!isInvalid(error)) return undefined;
  const message = `The API server refuses an object of the runner pool. Ask the platform team: ${(error as Error).message}`;
  return { reason: 'PoolInvalid', message };
}

/** Remembers the settings with which the pool was applied last. */
function noteSettings(pools: Pools, namespace: string, state: AppliedSettings): void {
  const before = pools.appliedSettings.get(namespace);
  if (state.uid === undefined) {
    if (pools.appliedSettings.delete(namespace)) pools.settingsChanged.notify(namespace);
    return;
  }
  pools.appliedSettings.set(namespace, state);
  if (canonicalJson(before) !== canonicalJson(state)) pools.settingsChanged.notify(namespace);
}

/** `refused`: why the API server refuses pods with the settings of the project. */
type Reconciled = { action: Action; refused?: string };

async function reconcilePool(context: ProjectContext, namespace: string): Promise<Reconciled> {
  const { caches, projects } = context;
  const found = caches.namespaces.get(undefined, namespace);
  const uid = found?.metadata.uid;
  const applied = projects.applied.get(namespace);
  if (applied && applied.uid !== uid) await closeDeleted(context, namespace, applied.uid);
  if (uid === undefined || found?.metadata.deletionTimestamp !== undefined) {
    projects.begun.delete(namespace);
    return { action: done() };
  }
  const project = { namespace, uid };
  return needsPool(caches, namespace) ? ensureNeeded(context, project) : removeUnneeded(context, project);
}

async function removeUnneeded(context: ProjectContext, project: Project): Promise<Reconciled> {
  const { caches, pools, projects } = context;
  const { namespace } = project;
  const pool = await caches.deployments.getFresh(namespace, POOL);
  if (await isDraining(context, project)) {
    // Runners that sleep wake, to record how the last runs have ended.
    const isWaking = hasNoReplicas(pool) && !isAsleep(context, namespace);
    const ensured = isWaking ? await ensureNeeded(context, project) : undefined;
    return { ...ensured, action: after(DRAIN_CHECK_MS) };
  }
  const exists = projects.begun.has(namespace) || pool;
  pools.grantedSecrets.delete(namespace);
  pools.podProblems.delete(namespace);
  if (exists) await deletePool(context, project);
  projects.applied.delete(namespace);
  projects.begun.delete(namespace);
  return { action: done() };
}

async function ensureNeeded(context: ProjectContext, project: Project): Promise<Reconciled> {
  const { clock, log, pools, projects, storeChanges } = context;
  const { namespace, uid } = project;
  projects.begun.add(namespace);
  if (await isLost(context, uid)) {
    log.warn({ namespace }, 'restoring lost run store data');
    storeChanges.lost.notify(namespace);
  }
  const before = projects.applied.get(namespace);
  const older = await olderCredentials(context, project, before?.served);
  const pool = { ...project, older: older.names, authority: await projects.readAuthority() };
  const ensured = await ensurePool(context, pool, before);
  projects.applied.set(namespace, { ...ensured, served: older.served });
  const { refused } = ensured.deployment;
  const { isComplete, isNews } = await readPodProblem(context, pools.podProblems, namespace);
  if (isNews) for (const changed of [pools.accessChanged, pools.settingsChanged]) changed.notify(namespace);
  const compareMs = Math.max(0, ensured.applied.compareAt - clock.now());
  const action = after(
    isComplete ? Math.min(compareMs, mayChange(older) ? OLDER_CHECK_MS : Infinity) : ROLLOUT_CHECK_MS,
  );
  return { action, ...(refused !== undefined && { refused }) };
}

/** Whether runners must still end runs of deleted workflows. */
async function isDraining({ caches, store }: ProjectContext, { namespace, uid }: Project): Promise<boolean> {
  // A run store that lost its data must be open before anything can be deleted from it.
  if (store.deletions.isUnderWay(uid)) await store.check(uid);
  return store.deletions.isUnderWay(uid) || hasOpenRuns(caches, namespace);
}

async function isLost({ store }: ProjectContext, uid: string): Promise<boolean> {
  const checked = await store.check(uid);
  if (checked.outcome === 'unavailable') throw unreachable(checked);
  return checked.lost;
}

/** Removes what the run store holds of a deleted namespace. */
async function closeDeleted(context: ProjectContext, namespace: string, uid: string): Promise<void> {
  const { accounts, conn, store, projects } = context;
  const scan = projects.closing.get(namespace) ?? newScan();
  projects.closing.set(namespace, scan);
  const dropped = await accounts.drop(uid);
  const closed = dropped.outcome === 'done' ? await closeProject(conn, uid, scan) : dropped;
  if (closed.outcome === 'unavailable') throw unreachable(closed);
  store.forget(uid);
  projects.closing.delete(namespace);
  projects.applied.delete(namespace);
}
