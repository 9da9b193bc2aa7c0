/**
 * Objects that the token of the operator must not write: each is one that the operator writes, with one
 * member changed.
 */
import type { OperatorWrites, Write } from './operatorWrites.ts';

export type Path = readonly (string | number)[];
/**
 * In the object of that word the member at the path has the value; undefined: it is left out. The refusal
 * contains the text.
 */
export type HostileWrite = [
  what: string,
  base: keyof OperatorWrites,
  path: Path,
  value: unknown,
  refused: string,
];

const NAME = 'none of its objects has that name';
const SECRET_MARKS = 'may not give a Secret labels or annotations of other programs';
const ASKED = 'ask only the operator about the same namespace';
const RULES = 'only the rules of a pool';
/** The API server's own words: nobody grants rights that they do not hold. */
const NOT_HELD = 'not currently held';
const OTHER_ROLE = 'may bind only the Role windlass-runner';
const SUBJECT = 'bind only to the service account windlass-runner of the same namespace';
const ROUTES = 'routes that lead to the Workflow or the test run that owns them';

const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

export const HOSTILE_WRITES: HostileWrite[] = [
  ['a Secret of another name', 'poolSecret', ['metadata', 'name'], 'smtp', NAME],
  ['a service account of another name', 'account', ['metadata', 'name'], 'admin', NAME],
  ['a Role of another name', 'role', ['metadata', 'name'], 'admin', NAME],
  ['a RoleBinding of another name', 'binding', ['metadata', 'name'], 'admin', NAME],
  ['a Deployment of another name', 'runners', ['metadata', 'name'], 'miner', NAME],
  ['a CronJob of another name', 'tick', ['metadata', 'name'], 'miner', NAME],
  [
    'a name that the server makes',
    'role',
    ['metadata'],
    { generateName: 'windlass-runner', namespace: 'office' },
    NAME,
  ],
  ['a Secret of type TLS', 'poolSecret', ['type'], 'example.com/other', 'only Secrets of type Opaque'],
  [
    'a Secret for the token of a service account',
    'poolSecret',
    ['metadata', 'annotations'],
    { 'kubernetes.io/service-account.name': 'default' },
    'may not ask for the token of a service account',
  ],
  [
    'a Secret with a label that another program trusts',
    'poolSecret',
    ['metadata', 'labels', 'example.com/secret-type'],
    'repository',
    SECRET_MARKS,
  ],
  [
    'a Secret under the name of another program',
    'tokens',
    ['metadata', 'labels', 'app.kubernetes.io/name'],
    'other',
    SECRET_MARKS,
  ],
  [
    'a Secret with an annotation that another program obeys',
    'webhooks',
    ['metadata', 'annotations'],
    { 'example.com/replicate-from': 'shop/smtp' },
    SECRET_MARKS,
  ],
  [
    'an account with a token in every pod',
    'account',
    ['automountServiceAccountToken'],
    true,
    'mounted by default',
  ],
  [
    'an account without a word on its token',
    'account',
    ['automountServiceAccountToken'],
    undefined,
    'mounted by default',
  ],
  ['an account that has Secrets', 'account', ['secrets'], [{ name: 'smtp' }], 'may not give Secrets'],
  ['an account that pulls', 'account', ['imagePullSecrets'], [{ name: 'registry' }], 'may not give Secrets'],
  [
    'an account with a role in a cloud',
    'account',
    ['metadata', 'annotations'],
    { 'example.com/role': 'admin' },
    'may annotate a service account only with keys of projectSettings.serviceAccountAnnotations',
  ],
  [
    'a Role that may do everything',
    'role',
    ['rules', 0],
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    NOT_HELD,
  ],
  ['a Role that gets every Secret', 'role', ['rules', 4], rule('', 'secrets', 'get'), RULES],
  ['a Role that lists Secrets', 'role', ['rules', 4, 'verbs'], ['get', 'list'], NOT_HELD],
  ['a Role that creates Secrets', 'role', ['rules', 4], rule('', 'secrets', 'create'), RULES],
  ['a Role that creates Deployments', 'role', ['rules', 5], rule('apps', 'deployments', 'create'), RULES],
  ['a Role that writes CronJobs', 'role', ['rules', 5], rule('batch', 'cronjobs', 'patch'), RULES],
  ['a Role that writes routes', 'role', ['rules', 1], rule('windlass.dev', 'webhookroutes', 'create'), RULES],
  ['a Role that changes credentials', 'role', ['rules', 0, 'verbs'], ['list', 'watch', 'patch'], RULES],
  ['a Role that deletes runs', 'role', ['rules', 1, 'verbs'], ['create', 'get', 'delete'], RULES],
  ['a ScaledObject of another name', 'scaledObject', ['metadata', 'name'], 'web', NAME],
  [
    'a ScaledObject of another Deployment',
    'scaledObject',
    ['spec', 'scaleTargetRef', 'name'],
    'web',
    'scale only runner pools',
  ],
  [
    'a ScaledObject with another number where KEDA gets none',
    'scaledObject',
    ['spec', 'fallback'],
    { failureThreshold: 3, replicas: 100 },
    'scale only runner pools',
  ],
  ['a ScaledObject for no runners', 'scaledObject', ['spec', 'minReplicaCount'], 0, 'between 1 and 12'],
  ['a ScaledObject for too many', 'scaledObject', ['spec', 'maxReplicaCount'], 13, 'between 1 and 12'],
  [
    'a ScaledObject without a bound',
    'scaledObject',
    ['spec', 'maxReplicaCount'],
    undefined,
    'between 1 and 12',
  ],
  [
    'a ScaledObject that asks somebody else',
    'scaledObject',
    ['spec', 'triggers', 0, 'metadata', 'url'],
    'http://example.com/scaling/office',
    ASKED,
  ],
  [
    'a ScaledObject that asks about another project',
    'scaledObject',
    ['spec', 'triggers', 0, 'metadata', 'url'],
    'http://windlass-operator.windlass-system.svc:9090/scaling/shop',
    ASKED,
  ],
  [
    'a ScaledObject that asks with a Secret',
    'scaledObject',
    ['spec', 'triggers', 0, 'authenticationRef'],
    { name: 'smtp' },
    ASKED,
  ],
  ['a binding to another Role', 'binding', ['roleRef', 'name'], 'windlass-other', OTHER_ROLE],
  [
    "a binding to the operator's ClusterRole",
    'binding',
    ['roleRef'],
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'windlass-operator' },
    OTHER_ROLE,
  ],
  [
    'a binding to a person',
    'binding',
    ['subjects', 0],
    { kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' },
    SUBJECT,
  ],
  ['a binding to another account', 'binding', ['subjects', 0, 'name'], 'default', SUBJECT],
  ['a binding to another namespace', 'binding', ['subjects', 0, 'namespace'], 'shop', SUBJECT],
  [
    'a binding to two',
    'binding',
    ['subjects', 1],
    { kind: 'ServiceAccount', name: 'default', namespace: 'office' },
    SUBJECT,
  ],
  [
    'a NetworkPolicy of all pods',
    'network',
    ['spec', 'podSelector'],
    {},
    'only NetworkPolicies that select the pods of Windlass',
  ],
  [
    'a budget of all pods',
    'budget',
    ['spec', 'selector'],
    {},
    'only PodDisruptionBudgets that select runners',
  ],
  [
    'a budget that no drain gets past',
    'budget',
    ['spec', 'maxUnavailable'],
    0,
    'only PodDisruptionBudgets that select runners',
  ],
  [
    'a revision of no workflow',
    'revision',
    ['metadata', 'ownerReferences'],
    [],
    'ControllerRevisions that a Workflow owns',
  ],
  [
    'a revision of a DaemonSet',
    'revision',
    ['metadata', 'ownerReferences', 0, 'kind'],
    'DaemonSet',
    'ControllerRevisions that a Workflow owns',
  ],
  ['a route to another workflow', 'route', ['spec', 'workflow'], 'another', ROUTES],
  ['a route of another workflow', 'route', ['spec', 'workflowUID'], 'another', ROUTES],
  ['a route of another test run', 'testRoute', ['spec', 'testRun'], 'another', ROUTES],
  ['a route of a test run that events open', 'testRoute', ['spec', 'active'], true, ROUTES],
  ['a route of a test run under another name', 'testRoute', ['metadata', 'name'], 'report', ROUTES],
];

/**
 * The write with the member of its object at the path replaced. Throws where the path leads through a missing
 * member.
 */
export function hostile({ resource, manifest }: Write, path: Path, value: unknown): Write {
  // Members that are the same object become two, as the API server would read them.
  const copy = JSON.parse(JSON.stringify(manifest)) as typeof manifest;
  let holder = copy as unknown as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) {
    const member = holder[key];
    if (typeof member !== 'object' || member === null)
      throw new Error(`${path.join('.')} leads through ${key}, which is missing`);
    holder = member as Record<string | number, unknown>;
  }
  const last = path.at(-1) ?? '';
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return { resource, manifest: copy };
}
