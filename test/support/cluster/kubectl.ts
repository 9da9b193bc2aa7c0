/** Runs the kubectl and helm of a cluster against it, and reads from its API server. */
import { join } from 'node:path';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { kubeconfigConnection } from '../../../kube/config.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { runCommand, type CommandOptions } from '../process/command.ts';

/** What a program of the cluster needs to be started by somebody else. */
export type ClusterAccess = Pick<Cluster, 'binDir' | 'kubeconfigPath'>;

const environment = (cluster: ClusterAccess) => ({ ...process.env, KUBECONFIG: cluster.kubeconfigPath });

/** What kubectl prints. Throws with its own words when it fails. */
export function kubectl(
  cluster: ClusterAccess,
  args: string[],
  options: CommandOptions = {},
): Promise<string> {
  return runCommand(join(cluster.binDir, 'kubectl'), args, { ...options, env: environment(cluster) });
}

export type ApplyTarget = { namespace: string; dryRun?: boolean };

/** What kubectl prints when it applies the manifest: its refusal, or what it did. */
export function applyWithKubectl(
  cluster: ClusterAccess,
  manifest: string,
  { namespace, dryRun = false }: ApplyTarget,
): Promise<string> {
  const args = ['-n', namespace, 'apply', '--validate=strict', '-f', '-'];
  if (dryRun) args.push('--dry-run=server');
  return kubectl(cluster, args, { input: manifest }).catch((error: Error) => error.message);
}

/** What helm prints. Throws with its own words when it fails. */
export function helm(cluster: ClusterAccess, args: string[], options: CommandOptions = {}): Promise<string> {
  return runCommand(join(cluster.binDir, 'helm'), args, { ...options, env: environment(cluster) });
}

/** The object, or the list of objects, that `kubectl get` finds. */
export async function getJson<T>(cluster: ClusterAccess, ...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(cluster, ['get', '-o', 'json', ...args])) as T;
}

const clients = new Map<string, Promise<KubeClient>>();
const connect = async (kubeconfigPath: string) => createClient(await kubeconfigConnection(kubeconfigPath));

/**
 * What the API server has at that path. Each start of kubectl takes a tenth of a second of processor time:
 * use this function for polls. Its connections stay open, and do not keep a process from ending.
 */
export async function readPath<T>({ kubeconfigPath }: ClusterAccess, path: string): Promise<T> {
  const client = clients.get(kubeconfigPath) ?? connect(kubeconfigPath);
  clients.set(kubeconfigPath, client);
  return (await (await client).raw('GET', path)) as T;
}
