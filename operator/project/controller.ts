/**
 * Brings the runner pool of one project, which is a namespace, to what its workflows need: the account in the run store,
 * the Secret with it, the rights, the Deployment. Everything is applied when it changed, and compared again every five
 * minutes; the account in the run store every half minute, because it may vanish with a restart.
 */
import { canonicalJson } from '../../kube/json.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Manifest } from '../../kube/writes.ts';
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import { isForbidden, isInvalid, isTerminating } from '../../kube/errors.ts';
import {
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type Resource,
} from '../../kube/resource.ts';
import { dropPoolAccount, ensurePoolAccount } from '../../store/accounts.ts';
import { newScan, type Scan } from '../../store/scan.ts';
import { closeProject } from '../../runs/project.ts';
import type { OperatorContext } from '../shared/context.ts';
import { explainRefusal, unreachable } from '../shared/errors.ts';
import { poolCredentials, sha256 } from './account.ts';
import { applyPods } from '../pods/applyPods.ts';
import { createAuthorityReader } from '../pods/authority.ts';
import { olderCredentials, type Served } from './olderCredentials.ts';
import { hasOpenRuns, needsPool, secretsInUse } from './needs.ts';
import { dropPollJob, keepPollJob } from '../poll/keep.ts';
import { networkPolicies, podDisruptionBudgets } from '../shared/resources.ts';
import {
  poolDeployment,
  poolDisruptionBudget,
  poolNetworkPolicy,
  poolRole,
  poolRoleBinding,
  poolSecret,
  poolServiceAccount,
  type PoolAccount,
} from './manifests.ts';
import { POOL } from '../shared/names.ts';
import type { PoolRefusal } from './readiness.ts';
import { readPodProblem } from '../pods/rollout.ts';
import { projectConfig, settingsOf, type ProjectConfig } from '../pods/settings.ts';
import type { AppliedSettings } from '../settings/controller.ts';

const ACCOUNT_CHECK_MS = 30_000;
const DRIFT_CHECK_MS = 300_000;
/** While the pool has not rolled out. */
const ROLLOUT_CHECK_MS = 10_000;
const DRAIN_CHECK_MS = 10_000;

/** What is remembered of a project between reconciles; losing it costs some writes that change nothing. */
type Memory = {
  uid: string;
  served: Served;
  account: PoolAccount;
  /** The text of what was applied last of all that no cache follows, and when. */
  applied: { text: string; at: number };
  /** What of the Deployment was applied last, and what came of it. `refused`: why not with the settings of the project. */
  deployment: { text: string; uid: string | undefined; generation: number | undefined; refused?: string };
  /** How far the removal of a namespace that is gone is, once it has begun. */
  closing?: Scan;
};

export type ProjectReconciler = (key: Key) => Promise<Action>;

export type ProjectEvents = {
  /** The run store has lost the data of the project in this namespace. */
  onLost: (namespace: string) => void;
  /** The API server refuses the pool in this namespace, or does not any more; its runners were granted other rights, or its pods have another problem. */
  onRights: (namespace: string) => void;
  /** The pool in this namespace has other settings now, or the API server refuses it with them. */
  onSettings: (namespace: string) => void;
};

/** Creates the reconciler. */
export function createProjectReconciler(context: OperatorContext, events: ProjectEvents): ProjectReconciler {
  const reconcile = createPoolReconciler(context, events);
  const { caches, refusedPools, refusedPolls, grantedSecrets } = context;
  return async ({ name: namespace }) => {
    const granted = grantedSecrets.get(namespace);
    const refused = refusedPolls.get(namespace)?.message;
    const { uid, generation } = settingsOf(caches, namespace)?.metadata ?? {};
    try {
      const { action, ...applied } = await reconcile(namespace);
      if (noteSettings(context, namespace, { uid, generation, ...applied })) events.onSettings(namespace);
      if (refusedPools.delete(namespace)) events.onRights(namespace);
      return action;
    } catch (error) {
      if (isTerminating(error)) return done();
      const blocked = refusalOf(error);
      if (blocked === undefined) throw error;
      if (noteSettings(context, namespace, { uid, generation, blocked })) events.onSettings(namespace);
      const isNew = refusedPools.get(namespace)?.message !== blocked.message;
      refusedPools.set(namespace, blocked);
      if (isNew) events.onRights(namespace);
      throw error;
    } finally {
      // Also where something failed after that: nobody would be told by the next attempt, which finds them granted.
      const isRefused = refusedPolls.get(namespace)?.message;
      if (grantedSecrets.get(namespace) !== granted || isRefused !== refused) events.onRights(namespace);
    }
  };
}

/** Undefined for what is no answer to an object of the pool, such as an outage. */
function refusalOf(error: unknown): PoolRefusal | undefined {
  if (isForbidden(error)) return { reason: 'Unauthorized', message: explainRefusal(error) };
  if (!isInvalid(error)) return undefined;
  const message = `The API server refuses an object of the runner pool. Ask whoever installed Windlass: ${(error as Error).message}`;
  return { reason: 'PoolInvalid', message };
}

/** Keeps with which settings the pool was applied last, if the namespace has settings. Returns whether that is news. */
function noteSettings(
  { appliedSettings }: OperatorContext,
  namespace: string,
  state: AppliedSettings,
): boolean {
  if (state.uid === undefined) return appliedSettings.delete(namespace);
  const before = appliedSettings.get(namespace);
  appliedSettings.set(namespace, state);
  return canonicalJson(before) !== canonicalJson(state);
}

/** `refused`: why the API server refuses pods with the settings of the project. */
type Reconciled = { action: Action; refused?: string };

function createPoolReconciler(
  context: OperatorContext,
  { onLost, onRights, onSettings }: ProjectEvents,
): (namespace: string) => Promise<Reconciled> {
  const memories = new Map<string, Memory>();
  /** The namespaces in which there may be objects of a pool although there is no Deployment. */
  const begun = new Set<string>();
  const readAuthority = createAuthorityReader(context.config, context.log);

  async function removeUnneeded(project: Project): Promise<Reconciled> {
    const { namespace } = project;
    if (await isDraining(context, project)) return { action: after(DRAIN_CHECK_MS) };
    const isThere = begun.has(namespace) || (await context.caches.deployments.getFresh(namespace, POOL));
    context.grantedSecrets.delete(namespace);
    context.podProblems.delete(namespace);
    if (isThere) await removePool(context, project);
    memories.delete(namespace);
    begun.delete(namespace);
    return { action: done() };
  }

  async function ensureNeeded(project: Project): Promise<Reconciled> {
    const { namespace, uid } = project;
    begun.add(namespace);
    if (await isLost(context, uid)) onLost(namespace);
    const before = memories.get(namespace);
    const { names: older, served } = await olderCredentials(context, project, before?.served);
    const pool = { ...project, older, authority: await readAuthority() };
    const ensured = await ensurePool(context, pool, before);
    memories.set(namespace, { ...ensured, served });
    const { refused } = ensured.deployment;
    const { isComplete, isNews } = await readPodProblem(context, namespace);
    if (isNews) for (const tell of [onRights, onSettings]) tell(namespace);
    const action = after(isComplete ? ACCOUNT_CHECK_MS : ROLLOUT_CHECK_MS);
    return { action, ...(refused !== undefined && { refused }) };
  }

  return async (namespace) => {
    const found = context.caches.namespaces.get(undefined, namespace);
    const isGoing = found?.metadata.deletionTimestamp !== undefined;
    const memory = memories.get(namespace);
    const uid = found?.metadata.uid;
    if (memory && memory.uid !== uid) {
      memory.closing ??= newScan();
      await closeGone(context, memory.uid, memory.closing);
      memories.delete(namespace);
    }
    if (uid === undefined || isGoing) {
      begun.delete(namespace);
      return { action: done() };
    }
    const project = { namespace, uid };
    return needsPool(context.caches, namespace) ? ensureNeeded(project) : removeUnneeded(project);
  };
}

type Project = { namespace: string; uid: string };

/** Whether runners still have something to end for workflows that are gone. */
async function isDraining({ caches, store }: OperatorContext, { namespace, uid }: Project): Promise<boolean> {
  // A store that lost its data must be open before anything can be deleted from it.
  if (store.deletions.isUnderWay(uid)) await store.check(uid);
  return store.deletions.isUnderWay(uid) || hasOpenRuns(caches, namespace);
}

async function isLost({ store }: OperatorContext, uid: string): Promise<boolean> {
  const checked = await store.check(uid);
  if (checked.outcome === 'unavailable') throw unreachable(checked);
  return checked.lost;
}

/** `older`: credentials that runs of earlier revisions still use. `authority`: PEM, of the run store. */
type Pool = Project & { older: readonly string[]; authority: string | undefined };

async function ensurePool(
  context: OperatorContext,
  project: Pool,
  memory: Memory | undefined,
): Promise<Omit<Memory, 'served'>> {
  const isDue = memory === undefined || context.clock.now() - memory.applied.at >= DRIFT_CHECK_MS;
  const account = isDue ? await poolCredentials(context.client, project) : memory.account;
  // The Secret comes first: a password that only the run store knows would be lost with this process.
  const applied = await applyUncached(context, project, account, isDue ? undefined : memory?.applied);
  const granted = await ensurePoolAccount(context.conn, project.uid, sha256(account.password));
  if (granted.outcome === 'unavailable') throw unreachable(granted);
  if (granted.changed) context.log.info({ namespace: project.namespace }, 'run store account put in place');
  const deployed = isDue && memory?.deployment.refused !== undefined ? undefined : memory?.deployment;
  const [, deployment] = await inSequence<[void, Memory['deployment'], void]>(
    // Pods need the account, so that it comes before them.
    () => (applied === memory?.applied ? Promise.resolve() : applyIdentity(context, project.namespace)),
    () => applyDeployment(context, project, account, deployed),
    () => keepPollJob(context, project),
  );
  return { uid: project.uid, account, applied, deployment };
}

/**
 * Takes the steps one after the other, also where one fails: what is refused in one object must keep no older image and no wider egress in
 * another. Then throws what failed first, or returns their results.
 */
async function inSequence<T extends unknown[]>(
  ...steps: { [Index in keyof T]: () => Promise<T[Index]> }
): Promise<T> {
  const failures: unknown[] = [];
  const results: unknown[] = [];
  for (const step of steps) results.push(await step().catch((error: unknown) => void failures.push(error)));
  if (failures.length > 0) throw failures[0];
  return results as T;
}

async function applyIdentity(context: OperatorContext, namespace: string): Promise<void> {
  const { serviceAccountAnnotations } = projectConfig(context, namespace);
  await context.client.apply(serviceAccounts, poolServiceAccount(namespace, serviceAccountAnnotations));
}

/** Applies what no cache follows but the account of the runners, unless the same was applied a short while ago. */
async function applyUncached(
  context: OperatorContext,
  { namespace, older, authority }: Pool,
  account: PoolAccount,
  before: Memory['applied'] | undefined,
): Promise<Memory['applied']> {
  const { client, caches, clock, grantedSecrets } = context;
  const config = projectConfig(context, namespace);
  const secret = poolSecret(namespace, account, authority);
  const secretNames = secretsInUse(caches, namespace, older);
  const role = poolRole(namespace, secretNames);
  const budget = poolDisruptionBudget(namespace, config);
  const identity = poolServiceAccount(namespace, config.serviceAccountAnnotations);
  const text = sha256(canonicalJson([secret, role, budget, identity]));
  if (before?.text === text) return before;
  // Before there are runners that it is for.
  await applyOrRemove(client, networkPolicies, namespace, poolNetworkPolicy(namespace, config));
  await applyOrRemove(client, podDisruptionBudgets, namespace, budget);
  const apply = <T extends KubeObject>(resource: Resource<T>, manifest: Manifest<T>) =>
    client.apply(resource, manifest);
  await apply(secrets, secret);
  await apply(roles, role);
  await apply(roleBindings, poolRoleBinding(namespace));
  // The same list stays, so that nobody is woken for nothing.
  if (grantedSecrets.get(namespace)?.join() !== secretNames.join())
    grantedSecrets.set(namespace, secretNames);
  return { text, at: clock.now() };
}

/** What an operator with other settings made before goes. */
async function applyOrRemove<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  namespace: string,
  manifest: Manifest<T> | undefined,
): Promise<void> {
  if (manifest) await client.apply(resource, manifest);
  else await client.delete(resource, { namespace, name: POOL });
}

/** Applies the Deployment unless it is, to the generation, what came of applying the same before. */
async function applyDeployment(
  context: OperatorContext,
  project: Project,
  account: PoolAccount,
  before: Memory['deployment'] | undefined,
): Promise<Memory['deployment']> {
  const { caches } = context;
  const { namespace } = project;
  const accountHash = sha256(canonicalJson(account)).slice(0, 16);
  const manifestOf = (config: ProjectConfig) => poolDeployment(project, config, accountHash);
  const text = sha256(canonicalJson(manifestOf(projectConfig(context, namespace))));
  const cached = await caches.deployments.getFresh(namespace, POOL);
  const isSame =
    cached !== undefined &&
    cached.metadata.uid === before?.uid &&
    cached.metadata.generation === before?.generation;
  // The server may write values in another way than we do, and then they look changed each time.
  if (before?.text === text && isSame) return before;
  const pods = { namespace, resource: deployments, cached, manifestOf };
  const { object, written, refused } = await applyPods(context, pods);
  if (written) caches.deployments.noteWrite(object);
  const { uid, generation } = object.metadata;
  return { text, uid, generation, ...(refused !== undefined && { refused }) };
}

/** Removes runners, rights and account, once. */
async function removePool(context: OperatorContext, { namespace, uid }: Project): Promise<void> {
  const { client, conn } = context;
  const ref = { namespace, name: POOL };
  await dropPollJob(context, namespace);
  await client.delete(roleBindings, ref);
  await client.delete(roles, ref);
  await client.delete(serviceAccounts, ref);
  await client.delete(secrets, ref);
  await client.delete(podDisruptionBudgets, ref);
  await client.delete(networkPolicies, ref);
  const dropped = await dropPoolAccount(conn, uid);
  if (dropped.outcome === 'unavailable') throw unreachable(dropped);
  // Last: while it is there, whatever was not removed yet is tried again.
  await client.delete(deployments, ref);
}

/** The namespace is gone, and so is everything in it but what the run store holds. */
async function closeGone({ conn, store }: OperatorContext, uid: string, scan: Scan): Promise<void> {
  const dropped = await dropPoolAccount(conn, uid);
  const closed = dropped.outcome === 'done' ? await closeProject(conn, uid, scan) : dropped;
  if (closed.outcome === 'unavailable') throw unreachable(closed);
  store.forget(uid);
}
