/**
 * What every Kubernetes object has, and how its kind is found on the API server. Objects are what the server
 * sends as JSON: dates are RFC 3339 strings.
 */
import type * as k8s from '@kubernetes/client-node';

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

export type ObjectMeta = {
  name: string;
  generateName?: string;
  namespace?: string;
  /** Set by the server; absent only in an object that was not stored yet. */
  uid?: string;
  /** Opaque: compare it for equality only, never by order. */
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
};

export type KubeObject<Spec = unknown, Status = unknown> = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: Spec;
  status?: Status;
};

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A `metav1.Condition`. */
export type Condition = {
  type: string;
  status: ConditionStatus;
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime: string;
};

declare const objectType: unique symbol;

/**
 * A kind and where the API server serves it. `T` is the type of its objects; it exists for the compiler
 * alone.
 */
export type Resource<T extends KubeObject = KubeObject> = {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly [objectType]?: T;
};

/** The object that a call is about. `namespace` is left out for kinds that have none. */
export type ObjectRef = { namespace?: string; name: string };

export type KubeList<T extends KubeObject> = {
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
};

/** Declares a namespaced kind. */
export function namespacedResource<T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
): Resource<T> {
  return { group, version, kind, plural, namespaced: true };
}

/** Declares a kind that is cluster-wide. */
export function clusterResource<T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
): Resource<T> {
  return { group, version, kind, plural, namespaced: false };
}

/** `v1` for the core group, else `group/version`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The key of an object in caches and queues: `namespace/name`, or `name` for a cluster-wide object. */
export function objectKey(ref: ObjectRef): string {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** The owner that controls an object, if it has one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** A type of the generated client as raw JSON has it: every date is a string. */
type Raw<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Raw<Item>[]
    : T extends object
      ? { [Key in keyof T]: Raw<T[Key]> }
      : T;

export type Deployment = KubeObject<Raw<k8s.V1DeploymentSpec>, Raw<k8s.V1DeploymentStatus>>;
export type Pod = KubeObject<Raw<k8s.V1PodSpec>, Raw<k8s.V1PodStatus>>;
export type CronJob = KubeObject<Raw<k8s.V1CronJobSpec>, Raw<k8s.V1CronJobStatus>>;
export type Namespace = KubeObject<Raw<k8s.V1NamespaceSpec>, Raw<k8s.V1NamespaceStatus>>;
/** Values of `data` are base64. */
export type Secret = KubeObject & { type?: string; data?: Record<string, string>; immutable?: boolean };
export type ConfigMap = KubeObject & { data?: Record<string, string> };
export type ServiceAccount = KubeObject & { automountServiceAccountToken?: boolean };
export type PolicyRule = {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
};
export type Role = KubeObject & { rules: PolicyRule[] };
export type RoleBinding = KubeObject & {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string; apiGroup?: string }[];
};
export type ControllerRevision<Data = unknown> = KubeObject & { revision: number; data?: Data };
export type EndpointSlice = KubeObject & {
  addressType: string;
  endpoints: Raw<k8s.V1Endpoint>[] | null;
  ports?: Raw<k8s.DiscoveryV1EndpointPort>[];
};
export type Lease = KubeObject<{
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}>;
type ObjectReference = {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
};
export type Event = KubeObject & {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  regarding: ObjectReference;
  note: string;
  type: 'Normal' | 'Warning';
};
export type TokenReview = KubeObject<
  { token: string; audiences?: string[] },
  {
    authenticated?: boolean;
    audiences?: string[];
    error?: string;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  }
>;
export type SubjectAccessReview = KubeObject<
  {
    user?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
    resourceAttributes?: {
      namespace?: string;
      verb: string;
      group: string;
      version?: string;
      resource: string;
      subresource?: string;
      name?: string;
    };
  },
  { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string }
>;
export type CustomResourceDefinition = KubeObject<
  Record<string, unknown>,
  { conditions?: Condition[]; storedVersions?: string[] }
>;

export const deployments = namespacedResource<Deployment>('apps', 'v1', 'Deployment', 'deployments');
export const pods = namespacedResource<Pod>('', 'v1', 'Pod', 'pods');
export const cronJobs = namespacedResource<CronJob>('batch', 'v1', 'CronJob', 'cronjobs');
export const controllerRevisions = namespacedResource<ControllerRevision>(
  'apps',
  'v1',
  'ControllerRevision',
  'controllerrevisions',
);
export const configMaps = namespacedResource<ConfigMap>('', 'v1', 'ConfigMap', 'configmaps');
export const secrets = namespacedResource<Secret>('', 'v1', 'Secret', 'secrets');
export const serviceAccounts = namespacedResource<ServiceAccount>(
  '',
  'v1',
  'ServiceAccount',
  'serviceaccounts',
);
export const namespaces = clusterResource<Namespace>('', 'v1', 'Namespace', 'namespaces');
export const roles = namespacedResource<Role>('rbac.authorization.k8s.io', 'v1', 'Role', 'roles');
export const roleBindings = namespacedResource<RoleBinding>(
  'rbac.authorization.k8s.io',
  'v1',
  'RoleBinding',
  'rolebindings',
);
export const leases = namespacedResource<Lease>('coordination.k8s.io', 'v1', 'Lease', 'leases');
export const endpointSlices = namespacedResource<EndpointSlice>(
  'discovery.k8s.io',
  'v1',
  'EndpointSlice',
  'endpointslices',
);
export const events = namespacedResource<Event>('events.k8s.io', 'v1', 'Event', 'events');
export const tokenReviews = clusterResource<TokenReview>(
  'authentication.k8s.io',
  'v1',
  'TokenReview',
  'tokenreviews',
);
export const subjectAccessReviews = clusterResource<SubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
);
