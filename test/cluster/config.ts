/** What the environment says to the programs of this folder: where files lie, and which cluster is meant. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export type ClusterConfig = {
  /** What can be made again: binaries, locks. */
  cacheFolder: string;
  /** One folder per cluster. */
  clustersFolder: string;
  provider: 'automatic' | 'kind' | 'builtin' | 'current';
  /** Where the current context is. */
  currentKubeconfig: string;
  /** GOGC of the built-in cluster's programs: with 400 they take less processor time and more memory. */
  goCollection: string | undefined;
};

/** Throws when WINDLASS_CLUSTER names no provider. */
export function readClusterConfig(env: Record<string, string | undefined> = process.env): ClusterConfig {
  const provider = env['WINDLASS_CLUSTER'] || 'automatic';
  if (provider !== 'automatic' && provider !== 'kind' && provider !== 'builtin' && provider !== 'current') {
    throw new Error(`WINDLASS_CLUSTER is "${provider}": use kind, builtin or current, or leave it out`);
  }
  return {
    cacheFolder: join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'windlass'),
    clustersFolder: join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'windlass', 'clusters'),
    provider,
    currentKubeconfig: env['KUBECONFIG']?.split(delimiter)[0] || join(homedir(), '.kube', 'config'),
    goCollection: env['GOGC'],
  };
}
