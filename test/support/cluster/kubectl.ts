/** Runs the kubectl and helm of a cluster against it. */
import { join } from 'node:path';
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

/** What helm prints. Throws with its own words when it fails. */
export function helm(cluster: ClusterAccess, args: string[], options: CommandOptions = {}): Promise<string> {
  return runCommand(join(cluster.binDir, 'helm'), args, { ...options, env: environment(cluster) });
}

/** The object, or the list of objects, that `kubectl get` finds. */
export async function getJson<T>(cluster: ClusterAccess, ...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(cluster, ['get', '-o', 'json', ...args])) as T;
}
