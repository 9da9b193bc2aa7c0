/** What the tests of the admission policies share: objects to try, and the words of a refusal. */
import type { KubeClient } from '../../../../kube/client.ts';
import type { Draft } from '../../../../kube/writes.ts';
import type { KubeObject, PolicyRule, Resource } from '../../../../kube/resource.ts';
import { poolRole } from '../../../../operator/project/manifests.ts';
import type { ApiServer } from '../../../support/cluster/apiserver.ts';

/** The API server with the chart's policies, for the tests of one policy. */
export type AdmissionHarness = { server: ApiServer; admin: KubeClient };

/** Where the tests make their objects. */
export const NAMESPACE = 'shop';

export type Spec = Record<string, unknown>;

let count = 0;

/** An object of a name that no other has. */
export function draft(spec: Spec): Draft<KubeObject> {
  return { metadata: { name: `object-${(count += 1)}`, namespace: NAMESPACE }, spec };
}

/** `allowed`, or the status and the words of the refusal. */
export function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'allowed',
    (error: { status?: number; message: string }) => `${error.status} ${error.message}`,
  );
}

/** A rule of RBAC for kinds of ours. */
export function own(resources: string[], verbs: string[], resourceNames?: string[]): PolicyRule {
  return { apiGroups: ['windlass.dev'], resources, verbs, ...(resourceNames && { resourceNames }) };
}

const secrets = (verbs: string[], resourceNames?: string[]): PolicyRule => ({
  apiGroups: [''],
  resources: ['secrets'],
  verbs,
  ...(resourceNames && { resourceNames }),
});
const write = own(
  ['workflows', 'credentials', 'workflowruns'],
  ['create', 'get', 'patch', 'update', 'delete'],
);

/** What each may do in the namespace. */
export const RIGHTS = {
  writer: [write],
  lister: [write, secrets(['list', 'watch'])],
  reader: [write, secrets(['get'])],
  'reader-of-one': [write, secrets(['get'], ['one'])],
  'reader-of-tokens': [write, secrets(['get'], ['windlass-tokens'])],
  'executor-of-orders': [write, own(['workflows/execute'], ['create'], ['orders'])],
  executor: [write, own(['workflows/execute'], ['create'])],
  recorder: [write, own(['workflows/execute'], ['create']), own(['workflowruns/status'], ['patch'])],
  canceller: [own(['workflowruns'], ['get', 'patch'])],
  viewer: [own(['workflowruns'], ['get'])],
  'windlass-runner': poolRole(NAMESPACE, []).rules ?? [],
} satisfies Record<string, PolicyRule[]>;
export type User = keyof typeof RIGHTS;

export const ref = (name: string) => ({ name, key: 'key' });
export const smtp = (secret: string, host = 'mail.example.com'): Spec => ({
  smtp: { host, from: 'a@example.com', username: 'a', passwordRef: ref(secret) },
});
export const webhook = (auth?: Spec, further: Spec = {}): Spec => ({
  nodes: [{ id: 'call', webhook: { path: 'orders', ...(auth && { auth }), ...further } }],
});

/** What users try, and what an administrator creates without being asked for rights. */
export type Attempts = {
  /** Creates the object. The outcome is `allowed`, or the status and the words of the refusal. */
  tryTo: (user: User, resource: Resource, spec: Spec) => Promise<string>;
  tryToPatch: (user: User, resource: Resource, name: string, patch: object) => Promise<string>;
  /** Returns the name of the new object. */
  make: (resource: Resource, spec: Spec) => Promise<string>;
};
