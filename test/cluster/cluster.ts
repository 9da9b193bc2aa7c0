/** One cluster for tests and the demo, wherever it runs. */
import { builtinProvider } from './builtin/provider.ts';
import { readClusterConfig } from './config.ts';
import { currentProvider } from './providers/current.ts';
import { isKindUsable, kindProvider } from './providers/kind.ts';
import type { Cluster, ClusterProvider, ClusterRequest } from './provider.ts';

export type { Cluster, ClusterRequest } from './provider.ts';

/**
 * The running cluster of that name, started, resumed or mended as it needs. Throws an error that says which
 * provider would work where this one cannot.
 */
export async function ensureCluster(request: ClusterRequest): Promise<Cluster> {
  const provider = await chooseProvider();
  if (provider.name !== 'builtin' && (request.nodes ?? 1) > 1) {
    throw new Error(
      `--nodes needs the built-in cluster (WINDLASS_CLUSTER=builtin): this one is ${provider.name}`,
    );
  }
  return provider.up(request);
}

/**
 * The provider that WINDLASS_CLUSTER names; else kind where a Docker engine answers, and the built-in one
 * where not.
 */
export async function chooseProvider(): Promise<ClusterProvider> {
  const { provider } = readClusterConfig();
  if (provider === 'current') return currentProvider;
  if (provider === 'kind') return kindProvider;
  if (provider === 'automatic' && (await isKindUsable())) return kindProvider;
  return builtinProvider;
}
