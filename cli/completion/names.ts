/** Names of objects of the cluster, for completion: soon, or not at all. */
import { collectionPath } from '../../kube/paths.ts';
import { namespaces, type Resource } from '../../kube/resource.ts';
import { contextNames } from '../../kube/kubeconfig.ts';
import { withCluster } from '../cluster/cluster.ts';
import { credentials, workflowRuns, workflows } from '../../operator/shared/resources.ts';
import type { ClusterNames } from './candidates.ts';

const RESOURCES: Readonly<Record<Exclude<ClusterNames, 'contexts'>, Resource>> = {
  workflows,
  runs: workflowRuns,
  credentials,
  namespaces,
};

/** Somebody waits with a finger on a key. */
const TIMEOUT_MS = 2_000;
const MOST = 500;
const NAMES_ALONE = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

type Given = Pick<Parameters<typeof withCluster>[0], 'options' | 'kubeconfig'>;

/** The names that the cluster has; none if it cannot be asked. */
export async function clusterNames(kind: ClusterNames, given: Given): Promise<string[]> {
  try {
    return kind === 'contexts' ? contextNames(given.kubeconfig) : await listed(RESOURCES[kind], given);
  } catch {
    // A message would appear in the middle of the line that somebody types.
    return [];
  }
}

function listed(resource: Resource, given: Given): Promise<string[]> {
  return withCluster(given, async ({ client, namespace }) => {
    const path = collectionPath(resource, resource.namespaced ? namespace : undefined);
    const answer = await client.raw('GET', path, {
      accept: NAMES_ALONE,
      query: { limit: String(MOST) },
      timeoutMs: TIMEOUT_MS,
      retries: 0,
    });
    const { items } = answer as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name);
  });
}
