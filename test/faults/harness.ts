/** The cluster, the product in it and a project with the workflows that are under fire. */
import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { applyManifest, demoHosts, waitForReady } from '../support/installation/install.ts';
import { callerToken, openGateway, type Gateway } from '../support/installation/installedGateway.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { SinkURLs } from './effects.ts';
import { listRuns, mayList, type ListedRun } from './listing.ts';
import { SINK_ADDRESSES, SINK_HOSTS, startSinks } from './sinks.ts';
import { openStore, type StoreReader } from './store.ts';
import { projectManifest, WORKFLOWS, type SinkHosts } from './workflows.ts';

/** The members of a cluster that the processes of end-to-end tests receive. */
export type TestCluster = Pick<
  Cluster,
  'name' | 'provider' | 'kubeconfigPath' | 'binDir' | 'nodePortRange' | 'auditLog'
>;

/** What a load needs, wherever the programs run. */
export type LoadHarness = {
  /** Stands in the ids of its events and in the names of its namespaces. */
  name: string;
  project: string;
  /** Of somebody who may watch the runs of the project. */
  kubeconfigPath: string;
  sinks: SinkURLs;
  store: StoreReader;
  /** The runs of the project as the gateway lists them. */
  list(): Promise<ListedRun[]>;
};

export type Harness = LoadHarness & {
  cluster: TestCluster;
  gateway: Gateway;
  remove(): Promise<void>;
};

/**
 * Values of the chart with which every program has a replica that can take over, and steps reach the sinks.
 */
export const REPLICATED = {
  operator: { replicas: 2 },
  gateway: { replicas: 2 },
  runner: { replicas: 2, egress: { allow: [...demoHosts, ...SINK_ADDRESSES] } },
};

/** What is in a project: the names of its workflows, and everything that it needs. */
type Content = {
  workflows: readonly string[];
  manifest: (hosts: SinkHosts, project: string) => string;
};

const UNDER_LOAD: Content = {
  workflows: WORKFLOWS.map(({ workflow }) => workflow),
  manifest: projectManifest,
};

/**
 * A new project on a cluster that has Windlass; resolves when its workflows are ready. Throws on a cluster
 * that is not built-in.
 */
export async function startHarness(cluster: TestCluster, content = UNDER_LOAD): Promise<Harness> {
  if (cluster.provider !== 'builtin') {
    throw new Error('faults are done to processes of this machine: they need WINDLASS_CLUSTER=builtin');
  }
  const name = randomBytes(3).toString('hex');
  const project = `faults-${name}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: project, labels } };
  await applyManifest(cluster, stringify(namespace));
  const sinks = await startSinks(cluster);
  const input = content.manifest(SINK_HOSTS, project);
  await kubectl(cluster, ['apply', '-n', project, '-f', '-'], { input });
  await Promise.all(content.workflows.map((workflow) => waitForReady(cluster, workflow, project)));
  await runnersReady(cluster, project);
  const [gateway, store] = await Promise.all([openGateway(cluster), openStore(cluster, project)]);
  return {
    cluster,
    name,
    project,
    kubeconfigPath: cluster.kubeconfigPath,
    list: async () => {
      await applyManifest(cluster, mayList(project));
      return listRuns({ url: gateway.internalURL, token: await callerToken(cluster), project });
    },
    gateway,
    sinks,
    store,
    remove: async () => {
      gateway.close();
      await store.close();
      await kubectl(cluster, ['delete', 'namespace', project, '--wait=false']);
    },
  };
}

const runnersReady = (cluster: TestCluster, project: string) =>
  kubectl(cluster, ['rollout', 'status', '-n', project, 'deployment/windlass-runner', '--timeout=60s'], {
    timeoutMs: 70_000,
  });
