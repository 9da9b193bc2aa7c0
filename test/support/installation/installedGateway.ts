/** Reaches the gateway of an installed Windlass from this machine: its two listeners, tokens, live events. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cluster } from '../../cluster/cluster.ts';
import { demoNamespace, gatewayPorts, windlassNamespace } from './install.ts';
import { kubectl, type ClusterAccess } from '../cluster/kubectl.ts';

export type Gateway = {
  /** Where webhooks answer, without a path. */
  publicURL: string;
  /** Where execute, runs and events answer. */
  internalURL: string;
  close: () => void;
};

type GatewayCluster = ClusterAccess & Pick<Cluster, 'nodePortRange'>;

/**
 * The gateway's addresses on 127.0.0.1: ports of the node, or forwarded ones where the cluster has none here.
 */
export async function openGateway(cluster: GatewayCluster): Promise<Gateway> {
  const ports = gatewayPorts(cluster);
  if (ports) {
    const url = (port: number) => `http://127.0.0.1:${port}`;
    return { publicURL: url(ports.public), internalURL: url(ports.internal), close: () => {} };
  }
  const [outside, inside] = await Promise.all([
    forward(cluster, windlassNamespace, 'windlass-gateway'),
    forward(cluster, windlassNamespace, 'windlass-gateway-internal'),
  ]);
  const close = () => {
    outside.close();
    inside.close();
  };
  return { publicURL: outside.url, internalURL: inside.url, close };
}

/** A port of this machine that leads to a port of a service. */
export async function forward(
  cluster: ClusterAccess,
  namespace: string,
  service: string,
  port = 'http',
): Promise<{ url: string; close: () => void }> {
  const args = ['port-forward', '-n', namespace, '--address=127.0.0.1', `service/${service}`, `:${port}`];
  const child = spawn(join(cluster.binDir, 'kubectl'), args, {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfigPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const close = () => void child.kill();
  process.once('exit', close);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`kubectl port-forward to ${service} ended`);
  });
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string];
  ended.catch(() => {});
  const here = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
  if (!here) throw new Error(`kubectl port-forward said "${line}"`);
  return { url: `http://127.0.0.1:${here}`, close };
}

/**
 * The kubectl command that prints a token of a service account of the demo: for an hour, whatever the
 * cluster's default is.
 */
export function tokenCommand(account: 'caller' | 'editor' | 'you', audience?: string): string[] {
  const args = ['create', 'token', account, '-n', demoNamespace, '--duration', '1h'];
  return audience === undefined ? args : [...args, '--audience', audience];
}

/**
 * A token of the demo's caller, who may start workflows in the namespace of the examples and read their runs.
 */
export async function callerToken(cluster: ClusterAccess): Promise<string> {
  return (await kubectl(cluster, tokenCommand('caller', 'windlass'))).trim();
}

/** A live event of a run, as the gateway sends it. */
export type LiveEvent = { type: string; node?: string; text?: string; phase?: string; reason?: string };

/** The events of a run, from the first one to its end. Throws when the gateway refuses. */
export async function* liveEvents(
  url: string,
  token: string,
  signal?: AbortSignal,
): AsyncGenerator<LiveEvent> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    ...(signal && { signal }),
  });
  if (!response.ok || !response.body)
    throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** Undefined for a comment, which keeps the connection alive. */
function parseEvent(block: string): LiveEvent | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const type = field('event');
  const data = field('data');
  return type && data ? { ...(JSON.parse(data) as Omit<LiveEvent, 'type'>), type } : undefined;
}
