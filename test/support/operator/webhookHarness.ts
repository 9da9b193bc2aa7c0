/** From a manifest and a user's Secret to what two gateways answer, each with its chart's rights. */
import { stringify } from 'yaml';
import type { Workflow } from '../../../api/kinds.ts';
import type { WebhookAuth } from '../../../api/trigger.ts';
import { parseEntryName, WEBHOOKS } from '../../../api/webhookAuth.ts';
import { secrets } from '../../../kube/resource.ts';
import { applyChart } from '../cluster/chart.ts';
import type { GatewayProcess } from '../gateway/gatewayProcess.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { startOperatorHarness, SYSTEM, type OperatorHarness } from './operatorHarness.ts';
import { startReplica, startReplicas } from './gatewayReplicas.ts';
import { tokenOf, writeKubeconfig } from '../cluster/users.ts';

export type WebhookHarness = {
  harness: OperatorHarness;
  gateways: GatewayProcess[];
  /** Starts the first one again, after its end. */
  startGateway(): Promise<GatewayProcess>;
  /** Of the service account that both have. */
  gatewayToken: string;
  /** Makes a namespace with the user's Secret `hooks` in it. */
  project(values: Record<string, string>): Promise<string>;
  putSecret(namespace: string, values: Record<string, string>): Promise<void>;
  /** Waits until the workflow is served. */
  serving(namespace: string, name: string): Promise<Workflow>;
  /** What each replica answers. */
  statuses(id: string, sent?: Sent): Promise<number[]>;
  /** The uids of the workflows that the project's Secret for its gateways has entries of. */
  entriesIn(namespace: string): Promise<string[] | undefined>;
  /** All that a secret must not be in, in one text: routes and logs. */
  shown(): Promise<string>;
  stop(): Promise<void>;
};

export type Sent = { body?: string; headers?: Record<string, string> };

export async function startWebhookHarness(): Promise<WebhookHarness> {
  const harness = await startOperatorHarness();
  const { client, server } = harness;
  await applyChart(server, SYSTEM, { templates: ['gateway', 'gateway-rbac'] });
  const gatewayToken = await tokenOf(client, SYSTEM, 'windlass-gateway');
  const kubeconfig = await writeKubeconfig(server, 'gateway', gatewayToken);
  const gateways = await startReplicas(harness, kubeconfig);
  harness.startOperator();

  async function putSecret(namespace: string, values: Record<string, string>): Promise<void> {
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
    await client.apply(secrets, { metadata: { namespace, name: 'hooks' }, data });
  }

  return {
    harness,
    gateways,
    gatewayToken,
    startGateway: () => startReplica(harness, kubeconfig),
    putSecret,
    project: async (values) => {
      const { namespace } = await harness.createProject();
      await putSecret(namespace, values);
      return namespace;
    },
    serving: (namespace, name) =>
      harness.waitFor(namespace, name, { type: 'Ready', status: 'True', reason: 'Serving' }),
    statuses: (id, sent) =>
      Promise.all(gateways.map(async (gateway) => (await send(gateway, id, sent)).status)),
    entriesIn: async (namespace) => {
      const secret = await client.find(secrets, { namespace, name: WEBHOOKS });
      return secret && Object.keys(secret.data ?? {}).map((name) => parseEntryName(name)?.uid ?? name);
    },
    shown: async () => {
      const routes = await kubectl(server, ['get', 'webhookroutes', '-A', '-o', 'yaml']);
      return [routes, ...gateways.flatMap(({ log }) => log), JSON.stringify(harness.log.entries)].join('\n');
    },
    stop: async () => {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await harness.stop();
    },
  };
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** An active workflow whose webhook has the path `hook`. */
export function manifest(name: string, auth?: WebhookAuth): string {
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name } };
  const webhook = { path: 'hook', ...(auth && { auth }) };
  return stringify({ ...object, spec: { active: true, nodes: [{ id: 'trigger', webhook }] } });
}

/** Keys of the Secret `hooks`. */
export const refs = (...keys: string[]) => ({ secretRefs: keys.map((key) => ({ name: 'hooks', key })) });

export const bearer = (...keys: string[]): WebhookAuth => ({ bearer: refs(...keys) });

/** What a caller sends with such a token. */
export const token = (value: string): Sent => ({ headers: { authorization: `Bearer ${value}` } });

/** Calls the webhook of a workflow at one replica. */
export function send(
  gateway: GatewayProcess,
  id: string,
  { body = '{}', headers = {} }: Sent = {},
): Promise<Response> {
  return fetch(`${gateway.publicURL}/webhook/${id}/hook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}
