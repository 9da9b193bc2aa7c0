/** What the run store says of the project's workflows: totals while a fault run lasts, and how every run ended. */
import { stringify } from 'yaml';
import { isUnavailable, connectRunStore, type RunStoreConnection } from '../../runs/connection.ts';
import { liveRuns } from '../../runs/project.ts';
import { readCounts, readSummaries } from '../../runs/read.ts';
import { operatorAccount } from '../support/clusterRunStore.ts';
import { applyManifest, windlassNamespace } from '../support/install.ts';
import { getJson, type ClusterAccess } from '../support/kubectl.ts';
import type { EndedRun, Totals } from './evidence.ts';

export type StoreReader = {
  /** Undefined while the run store does not answer. */
  totals(): Promise<Totals[] | undefined>;
  /** The names of all runs that have not ended; undefined while the run store does not answer. */
  live(): Promise<string[] | undefined>;
  /** Every run that ended, as far as the run store lists them: the newest 10,000 of each workflow. */
  ended(): Promise<EndedRun[] | undefined>;
  close(): Promise<void>;
};

type Meta = { metadata: { name: string; uid: string } };
const LISTED = 10_000;

/** Reads through a port of the node, as the operator. */
export async function openStore(cluster: ClusterAccess, project: string): Promise<StoreReader> {
  const conn = await connect(cluster);
  const { metadata } = await getJson<Meta>(cluster, 'namespace', project);
  const { items } = await getJson<{ items: Meta[] }>(cluster, 'workflows.windlass.dev', '-n', project);
  const workflows = items.map((item) => item.metadata);

  const each = async <T>(read: (workflow: Meta['metadata']) => Promise<T | undefined>) => {
    const all = await Promise.all(workflows.map(read));
    return all.every((one) => one !== undefined) ? all : undefined;
  };
  return {
    totals: () =>
      each(async ({ name, uid }) => {
        const counts = await readCounts(conn, metadata.uid, uid);
        if (isUnavailable(counts)) return undefined;
        const { succeeded, failed, cancelled, active } = counts;
        return { workflow: name, succeeded, failed, cancelled, active };
      }),
    live: async () => {
      const lists = await each(async ({ uid }) => {
        const runs = await liveRuns(conn, metadata.uid, uid);
        return isUnavailable(runs) ? undefined : runs;
      });
      return lists?.flat();
    },
    ended: async () => {
      const lists = await each(async ({ uid }) => {
        const lines = await readSummaries(conn, metadata.uid, uid, LISTED);
        return isUnavailable(lines) ? undefined : lines;
      });
      return lists?.flat();
    },
    close: () => conn.close(),
  };
}

async function connect(cluster: ClusterAccess): Promise<RunStoreConnection> {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'run-store-of-tests', namespace: windlassNamespace },
    spec: {
      type: 'NodePort',
      selector: { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/component': 'redis' },
      ports: [{ name: 'redis', port: 6379 }],
    },
  };
  await applyManifest(cluster, stringify(service));
  const made = await getJson<{ spec: { ports: { nodePort: number }[] } }>(
    cluster,
    'service',
    service.metadata.name,
    '-n',
    windlassNamespace,
  );
  const conn = connectRunStore({
    url: `redis://127.0.0.1:${made.spec.ports[0]?.nodePort}`,
    name: 'fault-tests',
    ...(await operatorAccount(cluster)),
  });
  await conn.ready(AbortSignal.timeout(20_000));
  return conn;
}
