/**
 * The list-watches of the operator: one cache per kind, with the indexes that reconciles use. Caches hold no
 * payload, and of runs, revisions and namespaces only the fields that decisions need. Secrets are never
 * cached.
 */
import { LABEL } from '../../api/group.ts';
import { isTerminal } from '../../api/phase.ts';
import { type Variables, VARIABLES_NAME } from '../../api/expression/variables.ts';
import { variablesIn } from '../../api/variables.ts';
import type {
  Credential,
  Evaluation,
  ProjectSettings,
  WebhookRoute,
  Workflow,
  WorkflowRun,
} from '../../api/kinds.ts';
import { createCache, type Cache, type CacheOptions } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import { mergeCaches } from '../../kube/mergedCache.ts';
import { createWatchRounds } from '../../kube/watchRounds.ts';
import {
  configMaps,
  controllerRevisions,
  cronJobs,
  deployments,
  endpointSlices,
  leases,
  namespaces,
  objectKey,
  type ConfigMap,
  type ControllerRevision,
  type CronJob,
  type Deployment,
  type EndpointSlice,
  type KubeObject,
  type Lease,
  type Namespace,
} from '../../kube/resource.ts';
import { metadataOnly, withCredentialsAlone, withLastManager, withoutPayload } from './cachedObjects.ts';
import { POLL, POOL_LABELS, TICK } from './names.ts';
import {
  credentials,
  evaluations,
  projectSettings,
  webhookRoutes,
  workflowRuns,
  workflows,
} from './resources.ts';
import { startedBy } from '../../api/started.ts';
import { credentialRefs } from './credentialRefs.ts';

export type Caches = {
  workflows: Cache<Workflow>;
  runs: Cache<WorkflowRun>;
  credentials: Cache<Credential>;
  routes: Cache<WebhookRoute>;
  /** Routes of test runs that listen for an event, each named by the uid of its run. */
  testRoutes: Cache<WebhookRoute>;
  settings: Cache<ProjectSettings>;
  evaluations: Cache<Evaluation>;
  /** The ConfigMaps with the variables of projects, and no other. */
  variables: Cache<ConfigMap>;
  revisions: Cache<ControllerRevision>;
  deployments: Cache<Deployment>;
  cronJobs: Cache<CronJob>;
  namespaces: Cache<Namespace>;
  /** In the operator's namespace. */
  leases: Cache<Lease>;
  /** In the operator's namespace. */
  slices: Cache<EndpointSlice>;
};

/**
 * Index of workflows by the credentials that they name, and of runs, revisions and CronJobs by their
 * workflow.
 */
export const BY_CREDENTIAL = 'credential';
export const BY_WORKFLOW = 'workflow';
/** Index of runs by their parent. */
export const BY_PARENT = 'parent';
/** Index of unfinished runs with `listenFor` by their namespace. */
export const LISTENING = 'listening';
/** Workflows by those that they start: by a node, a tool or a failure. */
export const BY_STARTED = 'started';
/** Index of routes by uid: gateway replicas report routes by uid. */
export const BY_UID = 'uid';

export type CachesOptions = {
  client: KubeClient;
  /** The operator's own. */
  namespace: string;
  /** The namespaces to watch; all if empty. */
  watched: readonly string[];
  log: Log;
};

/** The caches, not started. */
export function createCaches({ client, namespace, watched, log }: CachesOptions): Caches {
  const common = { client, log, watchSeconds: createWatchRounds() };
  const rounds: WatchRounds = new Map(watched.map((name) => [name, createWatchRounds()]));
  const cache = <T extends KubeObject>(options: Omit<CacheOptions<T>, keyof typeof common>): Cache<T> =>
    watchedCache({ ...common, ...options }, rounds);
  return {
    workflows: cache({
      resource: workflows,
      transform: withLastManager,
      indexes: { [BY_CREDENTIAL]: credentialKeys, [BY_STARTED]: startedKeys },
    }),
    runs: cache({
      resource: workflowRuns,
      transform: withoutPayload,
      indexes: {
        [BY_WORKFLOW]: (run) => [inNamespaceOf(run, run.spec.workflow)],
        [LISTENING]: ({ spec, status, metadata: { namespace = '' } }) =>
          spec.listenFor !== undefined && !isTerminal(status?.phase) ? [namespace] : [],
        [BY_PARENT]: (run) => (run.spec.parent ? [inNamespaceOf(run, run.spec.parent.run)] : []),
      },
    }),
    credentials: cache({ resource: credentials }),
    routes: cache({
      resource: webhookRoutes,
      labelSelector: `!${LABEL.listening}`,
      indexes: { [BY_UID]: ({ metadata }) => [metadata.uid ?? ''] },
    }),
    testRoutes: cache({ resource: webhookRoutes, labelSelector: LABEL.listening }),
    settings: cache({ resource: projectSettings }),
    evaluations: cache({ resource: evaluations }),
    variables: cache({
      resource: configMaps,
      fieldSelector: `metadata.name=${VARIABLES_NAME}`,
    }),
    revisions: cache({
      resource: controllerRevisions,
      labelSelector: LABEL.workflow,
      transform: withCredentialsAlone,
      indexes: { [BY_WORKFLOW]: workflowOfLabel },
    }),
    deployments: cache({ resource: deployments, labelSelector: selector(POOL_LABELS) }),
    cronJobs: cache({
      resource: cronJobs,
      labelSelector: `app.kubernetes.io/managed-by=windlass,app.kubernetes.io/name in (${TICK}, ${POLL})`,
      indexes: { [BY_WORKFLOW]: workflowOfLabel },
    }),
    namespaces: cache({ resource: namespaces, transform: metadataOnly }),
    leases: createCache({ ...common, resource: leases, namespace }),
    slices: createCache({ ...common, resource: endpointSlices, namespace }),
  };
}

/**
 * How long watches of each watched namespace last. Those of all namespaces do not end together: hundreds of
 * requests at one moment would be more than the API server takes from one user.
 */
type WatchRounds = ReadonlyMap<string, () => number>;

/** Watches a kind in all namespaces, or in each of those watched; of Namespaces themselves, only those. */
function watchedCache<T extends KubeObject>(options: CacheOptions<T>, rounds: WatchRounds): Cache<T> {
  if (rounds.size === 0) return createCache(options);
  const { namespaced } = options.resource;
  const parts = new Map(
    [...rounds].map(([name, watchSeconds]) => {
      const part = namespaced ? { namespace: name } : { fieldSelector: `metadata.name=${name}` };
      return [name, createCache({ ...options, ...part, watchSeconds })];
    }),
  );
  return mergeCaches([...parts.values()], (namespace, name) =>
    parts.get(namespaced ? (namespace ?? '') : name),
  );
}

/** Watches until the signal is aborted, then resolves. */
export async function startCaches(caches: Caches, signal: AbortSignal): Promise<void> {
  await Promise.all(Object.values(caches).map((cache: Cache<KubeObject>) => cache.start(signal)));
}

/** Resolves when every cache has a complete list. */
export async function synced(caches: Caches): Promise<void> {
  await Promise.all(Object.values(caches).map((cache: Cache<KubeObject>) => cache.synced));
}

/** The index key of a name in an object's namespace. */
export function inNamespaceOf(object: KubeObject, name: string): string {
  return objectKey({ namespace: object.metadata.namespace ?? '', name });
}

function credentialKeys(workflow: Workflow): string[] {
  const names = credentialRefs(workflow.spec).map((ref) => ref.name);
  return [...new Set(names)].map((name) => inNamespaceOf(workflow, name));
}

function startedKeys(workflow: Workflow): string[] {
  return startedBy(workflow.spec).map((name) => inNamespaceOf(workflow, name));
}

function workflowOfLabel(object: KubeObject): string[] {
  const name = object.metadata.labels?.[LABEL.workflow];
  return name === undefined ? [] : [inNamespaceOf(object, name)];
}

function selector(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** The variables of a project. */
export function projectVariables({ variables }: Pick<Caches, 'variables'>, namespace: string): Variables {
  return variablesIn(variables.get(namespace, VARIABLES_NAME)?.data);
}

/** The uid of a namespace, which identifies the project; undefined if it does not exist or is not watched. */
export function projectOf({ namespaces }: Pick<Caches, 'namespaces'>, namespace = ''): string | undefined {
  return namespaces.get(undefined, namespace)?.metadata.uid;
}

/** The route of the listening test run with this uid. Earlier versions named it like the run. */
export function testRouteOf(
  { testRoutes }: Pick<Caches, 'testRoutes'>,
  namespace: string,
  uid: string,
): WebhookRoute | undefined {
  return testRoutes.list(namespace).find(({ spec }) => spec.workflowUID === uid);
}
