/** Creates, updates and deletes the objects of one runner pool, and its account in the run store. */
import { canonicalJson } from '../../kube/json.ts';
import type { KubeClient } from '../../kube/client.ts';
import {
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type Deployment,
  type KubeObject,
  type Resource,
} from '../../kube/resource.ts';
import type { Manifest } from '../../kube/writes.ts';
import { putCallbackSettings } from '../../store/callbacks.ts';
import { applyPods, type PodsToApply } from '../pods/applyPods.ts';
import type { Pools } from '../pods/pools.ts';
import { clamp, projectScaling, type Scaling } from '../pods/scaling.ts';
import { projectConfig, type ProjectConfig } from '../pods/settings.ts';
import { deletePollJob, ensurePollJob } from '../poll/ensure.ts';
import type { Polls } from '../poll/polls.ts';
import { handOverReplicas, ownReplicas } from '../scaling/handOver.ts';
import { ensureScaledObject, poolScaledObject } from '../scaling/scaledObject.ts';
import type { ScalingState } from '../scaling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { hasNoReplicas, isAsleep } from '../scaling/asleep.ts';
import { unreachable } from '../shared/errors.ts';
import { POOL } from '../shared/names.ts';
import type { PoolAccount } from '../shared/poolAccounts.ts';
import { networkPolicies, podDisruptionBudgets } from '../shared/resources.ts';
import { poolCredentials, sha256, type PoolSecrets } from './account.ts';
import { formatKeys, settingsOf, type DatedKey } from './callbackKeys.ts';
import {
  poolDeployment,
  poolDisruptionBudget,
  poolNetworkPolicy,
  poolRole,
  poolRoleBinding,
  poolSecret,
  poolServiceAccount,
} from './manifests.ts';
import { latestDriftCheckMs, nextDriftCheckMs, type PoolsAlike } from './drift.ts';
import { secretsInUse } from './needs.ts';

type PoolContext = OperatorContext & {
  polls: Pick<Polls, 'refusals' | 'polling'>;
  pools: Pick<Pools, 'grantedSecrets'>;
  scaling: Pick<ScalingState, 'asleep' | 'waking' | 'decided' | 'refusals' | 'otherScalersChanged'>;
};

export type Project = { namespace: string; uid: string };

/** What was applied last of a pool. Losing it costs writes that change nothing. */
export type AppliedPool = {
  uid: string;
  account: PoolAccount;
  callbackKeys: readonly DatedKey[];
  /**
   * The hash of the objects that no cache holds, when they were compared, and when they are to be compared
   * again, by the clock; `isAsleep`: with the budget of pools that sleep; `count`: of so many; `random`: what
   * spreads the next comparison.
   */
  applied: {
    text: string;
    comparedAt: number;
    compareAt: number;
    isAsleep: boolean;
    count: number;
    random: number;
  };
  /**
   * The hash of the Deployment, and the result. `refused`: why the API server refuses it with the settings of
   * the project.
   */
  deployment: { text: string; uid: string | undefined; generation: number | undefined; refused?: string };
};

/** `older`: credentials that runs of earlier revisions still use. `authority`: PEM, of the run store. */
type DesiredPool = Project & { older: readonly string[]; authority: string | undefined };

/** Where there are more pools than so many times those of the time when it was chosen, it is chosen again. */
const MANY_MORE = 1.5;
/** While KEDA ends the deletion of an earlier ScaledObject. */
const LEAVING_CHECK_MS = 5_000;

export async function ensurePool(
  context: PoolContext,
  project: DesiredPool,
  before: AppliedPool | undefined,
): Promise<AppliedPool> {
  const isDue = before === undefined || isToCompare(context, project.namespace, before.applied);
  const known = isDue ? await poolCredentials(context, project, context.clock.date().getTime()) : before;
  const { account, callbackKeys } = known;
  // The Secret comes first: a password that only the run store knows would be lost with this process.
  const applied = await applyUncached(context, project, known, isDue ? undefined : before?.applied);
  reschedule(context, project.namespace, applied);
  const granted = await context.accounts.ensure(project.uid, sha256(account.password));
  if (granted.outcome === 'unavailable') throw unreachable(granted);
  const stored = await putCallbackSettings(
    context.conn,
    project.uid,
    settingsOf(callbackKeys, context.config.PUBLIC_URL),
  );
  if (stored.outcome === 'unavailable') throw unreachable(stored);
  if (granted.changed) context.log.info({ namespace: project.namespace }, 'set a run store account');
  const deployed = isDue && before?.deployment.refused !== undefined ? undefined : before?.deployment;
  const [, deployment] = await inSequence<[void, AppliedPool['deployment'], void]>(
    // Pods need the account, so that it comes before them.
    () => (applied === before?.applied ? Promise.resolve() : applyIdentity(context, project.namespace)),
    () => applyDeployment(context, project, account, deployed),
    () => ensurePollJob(context, project),
  );
  return { uid: project.uid, account, callbackKeys, applied, deployment };
}

/**
 * Executes all steps in sequence, even if one fails: a refused object must not keep an older image or a wider
 * egress in another. Then throws the first error, or returns the results.
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

async function applyIdentity(context: PoolContext, namespace: string): Promise<void> {
  const { serviceAccountAnnotations } = projectConfig(context, namespace);
  await context.client.apply(serviceAccounts, poolServiceAccount(namespace, serviceAccountAnnotations));
}

/**
 * Applies the objects that no cache holds, except the ServiceAccount, unless they were applied unchanged a
 * short time ago.
 */
async function applyUncached(
  context: PoolContext,
  { namespace, older, authority }: DesiredPool,
  { account, callbackKeys }: PoolSecrets,
  before: AppliedPool['applied'] | undefined,
): Promise<AppliedPool['applied']> {
  const { client, caches, clock, pools } = context;
  const config = projectConfig(context, namespace);
  const secret = poolSecret(namespace, account, { authority, callbackKeys: formatKeys(callbackKeys) });
  const secretNames = secretsInUse(caches, namespace, older);
  const role = poolRole(namespace, secretNames);
  const budget = poolDisruptionBudget(namespace, config);
  const identity = poolServiceAccount(namespace, config.serviceAccountAnnotations);
  const scaledObject = poolScaledObject(namespace, config);
  const text = sha256(canonicalJson([secret, role, budget, identity, scaledObject ?? null]));
  if (before?.text === text) return before;
  // If a later step fails, the next attempt compares with nothing: this one may have changed the objects.
  if (before) before.text = '';
  // The NetworkPolicy comes before the runners that it restricts.
  await applyOrRemove(client, networkPolicies, namespace, poolNetworkPolicy(namespace, config));
  await applyOrRemove(client, podDisruptionBudgets, namespace, budget);
  const isLeaving = await ensureScaledObject(context, namespace, scaledObject);
  const apply = <T extends KubeObject>(resource: Resource<T>, manifest: Manifest<T>) =>
    client.apply(resource, manifest);
  await apply(secrets, secret);
  // First: no runner is asked to use a Secret while its right to read it is being taken back.
  const granted = pools.grantedSecrets.get(namespace) ?? [];
  const kept = granted.filter((name) => secretNames.includes(name));
  if (kept.length < granted.length) pools.grantedSecrets.set(namespace, kept);
  await apply(roles, role);
  await apply(roleBindings, poolRoleBinding(namespace));
  // An equal list is not replaced, so that no change is notified.
  if (pools.grantedSecrets.get(namespace)?.join() !== secretNames.join())
    pools.grantedSecrets.set(namespace, secretNames);
  const alike = poolsLike(context, namespace);
  const comparedAt = clock.now();
  const random = Math.random();
  const compareAt = comparedAt + (isLeaving ? LEAVING_CHECK_MS : nextDriftCheckMs(alike, random));
  return { text, comparedAt, compareAt, random, ...alike };
}

/** The pools that sleep as this one does, or are awake as it is. */
function poolsLike(context: PoolContext, namespace: string): PoolsAlike {
  const isSleeping = isAsleep(context, namespace);
  const pools = context.caches.deployments.list();
  return { isAsleep: isSleeping, count: pools.filter((pool) => hasNoReplicas(pool) === isSleeping).length };
}

/**
 * Whether the time of the comparison has come. It was chosen for as many pools as there were then: where many
 * were added since, it is later, once, or the first comparisons of all would exceed the budget.
 */
function isToCompare(context: PoolContext, namespace: string, applied: AppliedPool['applied']): boolean {
  const now = context.clock.now();
  if (now < applied.compareAt) return false;
  const alike = poolsLike(context, namespace);
  if (alike.isAsleep !== applied.isAsleep || alike.count <= applied.count * MANY_MORE) return true;
  applied.count = alike.count;
  applied.compareAt = Math.max(
    applied.compareAt,
    applied.comparedAt + nextDriftCheckMs(alike, applied.random),
  );
  return now >= applied.compareAt;
}

/**
 * A pool that wakes is compared as soon as one that has been awake, and one that falls asleep as late as one
 * that has slept since it was compared: with each comparison the time begins again, not with each sleep. Nor
 * is it drawn again: the earliest of many draws would be.
 */
function reschedule(context: PoolContext, namespace: string, applied: AppliedPool['applied']): void {
  const isSleeping = isAsleep(context, namespace);
  if (applied.isAsleep === isSleeping) return;
  const alike = poolsLike(context, namespace);
  applied.isAsleep = isSleeping;
  applied.count = alike.count;
  applied.compareAt = isSleeping
    ? Math.max(applied.compareAt, applied.comparedAt + nextDriftCheckMs(alike, applied.random))
    : Math.min(applied.compareAt, context.clock.now() + latestDriftCheckMs(alike));
}

/** Deletes an object that an operator with other settings created. */
async function applyOrRemove<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  namespace: string,
  manifest: Manifest<T> | undefined,
): Promise<void> {
  if (manifest) await client.apply(resource, manifest);
  else await client.delete(resource, { namespace, name: POOL });
}

/** Applies the Deployment, unless the same was applied before and the object has not changed since. */
async function applyDeployment(
  context: PoolContext,
  project: Project,
  account: PoolAccount,
  before: AppliedPool['deployment'] | undefined,
): Promise<AppliedPool['deployment']> {
  const { caches } = context;
  const { namespace } = project;
  const accountHash = sha256(canonicalJson(account)).slice(0, 16);
  const cached = await caches.deployments.getFresh(namespace, POOL);
  const scaling = projectScaling(context, namespace);
  const replicas = isAsleep(context, namespace) ? 0 : decidedReplicas(context, scaling, namespace, cached);
  const manifestOf = (config: ProjectConfig) => poolDeployment(project, config, accountHash, replicas);
  const text = sha256(canonicalJson(manifestOf(projectConfig(context, namespace))));
  const isSame =
    cached !== undefined &&
    cached.metadata.uid === before?.uid &&
    cached.metadata.generation === before?.generation;
  // The API server may normalize values, which would then seem changed each time.
  if (before?.text === text && isSame) return before;
  const pods = { namespace, resource: deployments, cached, manifestOf };
  if (replicas === undefined) await leaveReplicas(context, pods);
  const { object, written, refused } = await applyPods(context, pods);
  if (written) caches.deployments.noteWrite(object);
  const { uid, generation } = object.metadata;
  return { text, uid, generation, ...(refused !== undefined && { refused }) };
}

/**
 * The replicas to apply; undefined where others set them. Those that a pool has when the engine `Builtin`
 * begins stay until the backlog asks for others.
 */
function decidedReplicas(
  { scaling: { decided } }: PoolContext,
  scaling: Scaling,
  namespace: string,
  cached: Deployment | undefined,
): number | undefined {
  if (scaling.engine === 'Fixed') return scaling.replicas;
  if (scaling.engine !== 'Builtin') return undefined;
  const replicas = clamp(decided.get(namespace) ?? cached?.spec?.replicas ?? scaling.min, scaling);
  decided.set(namespace, replicas);
  return replicas;
}

/**
 * Has somebody else own the number of replicas before the operator applies none. The Deployment is applied
 * with the number first: a policy of the cluster might refuse what it was before.
 */
async function leaveReplicas(context: PoolContext, pods: PodsToApply<Deployment>): Promise<void> {
  const { client } = context;
  const { namespace, manifestOf } = pods;
  const own = await ownReplicas(client, namespace);
  if (own === undefined) return;
  // A pool that sleeps has none, and no autoscaler begins with none.
  const replicas = Math.max(1, own);
  await applyPods(context, {
    ...pods,
    manifestOf: (config) => {
      const { spec, ...rest } = manifestOf(config);
      return { ...rest, ...(spec && { spec: { ...spec, replicas } }) };
    },
  });
  await handOverReplicas(client, namespace, replicas);
}

/**
 * Deletes runners, rights and account. The Deployment is deleted last: while it exists, an interrupted
 * deletion is repeated.
 */
export async function deletePool(context: PoolContext, { namespace, uid }: Project): Promise<void> {
  const { client, accounts } = context;
  const ref = { namespace, name: POOL };
  context.scaling.decided.delete(namespace);
  await ensureScaledObject(context, namespace, undefined);
  await deletePollJob(context, namespace);
  await client.delete(roleBindings, ref);
  await client.delete(roles, ref);
  await client.delete(serviceAccounts, ref);
  await client.delete(secrets, ref);
  await client.delete(podDisruptionBudgets, ref);
  await client.delete(networkPolicies, ref);
  const dropped = await accounts.drop(uid);
  if (dropped.outcome === 'unavailable') throw unreachable(dropped);
  await client.delete(deployments, ref);
}
