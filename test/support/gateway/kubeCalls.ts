/** Calls of the Kubernetes API through the gateway, as a user of the console. */
import { expect } from 'vitest';
import type { PolicyRule } from '../../../kube/resource.ts';
import { type KubeApiFaults, startKubeApiFaults } from '../cluster/kubeApiFaults.ts';
import type { CallInit, PassThroughHarness, TestGateway } from './passThroughHarness.ts';

export const OWN = '/kube/apis/windlass.dev/v1alpha1/namespaces/shop';
export const CORE = '/kube/api/v1/namespaces/shop';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** All that a user of the console may do in a project. */
export const EDITOR: PolicyRule[] = [
  {
    apiGroups: ['windlass.dev'],
    resources: ['workflows', 'workflowruns', 'credentials', 'webhookroutes'],
    verbs: ['*'],
  },
  { apiGroups: [''], resources: ['secrets'], verbs: ['*'] },
  { apiGroups: [''], resources: ['events', 'pods'], verbs: ['*'] },
  { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['*'] },
];

/** A gateway whose connections to the API server a proxy can disturb, and the proxy. */
export async function startProxiedGateway(
  harness: PassThroughHarness,
): Promise<{ proxy: KubeApiFaults; proxied: TestGateway }> {
  const { server, ca } = harness.api.connection;
  // Without an identity of its own: whoever passes through it is who the request says.
  const proxy = await startKubeApiFaults({ server, ...(ca !== undefined && { ca }), auth: {} });
  const connection = { ...proxy.connection, auth: { token: () => 'of-the-gateway' } };
  return { proxy, proxied: await harness.gateway({ connection }) };
}

export const workflow = (name: string, displayName = name) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { displayName, nodes: [{ id: 'trigger', manual: {} }] },
});

export const send = (method: string, body: unknown, type = 'application/json'): CallInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': type },
});

type Answer = Record<string, unknown> & { metadata: Record<string, unknown> };
export const json = async (answer: Response) => (await answer.json()) as Answer;

/** The status and the type of a problem. */
export async function problemOf(answer: Response): Promise<string> {
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  return `${answer.status} ${String((await json(answer))['type'])
    .split('/')
    .at(-1)}`;
}
