/** What the tests of the admission policies share: objects to try, and the words of a refusal. */
import type { KubeClient } from '../../../../kube/client.ts';
import type { Draft } from '../../../../kube/writes.ts';
import type { KubeObject, PolicyRule } from '../../../../kube/resource.ts';
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
