/**
 * What the run store says of the project's workflows: totals while a fault run lasts, and how every run
 * ended.
 */
import { stringify } from 'yaml';
import {
  isUnavailable,
  connectRunStore,
  orUnavailable,
  type RunStoreConnection,
} from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import { dedupeHash } from '../../runs/names.ts';
import { unfinishedRuns } from '../support/runStore/unfinishedRuns.ts';
import { readCounts } from '../../runs/read.ts';
import { readSummaries } from '../support/runStore/calls.ts';
import { operatorAccount } from '../support/installation/clusterRunStore.ts';
import { applyManifest, windlassNamespace } from '../support/installation/install.ts';
import { getJson, type ClusterAccess } from '../support/cluster/kubectl.ts';
import type { EndedRun, SentEvent, Totals } from './evidence.ts';

export type StoreReader = {
  /** Undefined while the run store does not answer. */
  totals(): Promise<Totals[] | undefined>;
  /** The names of all runs that have not ended; undefined while the run store does not answer. */
  live(): Promise<string[] | undefined>;
  /** How many runs wait to be recorded; undefined while the run store does not answer. */
  unrecorded(): Promise<number | undefined>;
  /** Every run that ended, as far as the run store lists them: the newest 10,000 of each workflow. */
  ended(): Promise<EndedRun[] | undefined>;
  /**
   * By event, the run under the event's key, where there is such a key. Throws while the run store does not
   * answer.
   */
  keyed(events: readonly SentEvent[]): Promise<Record<string, string>>;
  close(): Promise<void>;
};

/** A project in the run store. */
export type StoredProject = { uid: string; workflows: readonly { name: string; uid: string }[] };

type Meta = { metadata: { name: string; uid: string } };
const LISTED = 10_000;
/** Keys that are asked for at once. */
const PAGE = 500;

/** Reads through a port of the node, as the operator. */
export async function openStore(cluster: ClusterAccess, project: string): Promise<StoreReader> {
  const conn = await connect(cluster);
  return readStore(conn, await storedProject(cluster, project));
}

/** The uids of a project and of its workflows. */
export async function storedProject(cluster: ClusterAccess, project: string): Promise<StoredProject> {
  const { metadata } = await getJson<Meta>(cluster, 'namespace', project);
  const { items } = await getJson<{ items: Meta[] }>(cluster, 'workflows.windlass.dev', '-n', project);
  return { uid: metadata.uid, workflows: items.map((item) => item.metadata) };
}

/** Reads over a connection that it closes in the end. */
export function readStore(conn: RunStoreConnection, { uid: project, workflows }: StoredProject): StoreReader {
  const each = async <T>(read: (workflow: Meta['metadata']) => Promise<T | undefined>) => {
    const all = await Promise.all(workflows.map(read));
    return all.every((one) => one !== undefined) ? all : undefined;
  };
  return {
    totals: () =>
      each(async ({ name, uid }) => {
        const counts = await readCounts(conn, project, uid);
        if (isUnavailable(counts)) return undefined;
        const { succeeded, failed, cancelled, active } = counts;
        const accepted = active + succeeded + failed + cancelled;
        return { workflow: name, accepted, succeeded, failed, cancelled, active };
      }),
    live: async () => {
      const lists = await each(async ({ uid }) => {
        const runs = await unfinishedRuns(conn, project, uid);
        return isUnavailable(runs) ? undefined : runs;
      });
      return lists?.flat();
    },
    unrecorded: async () => {
      const count = await orUnavailable(() => conn.command('zcard', keysOf(project).unrecorded));
      return isUnavailable(count) ? undefined : Number(count);
    },
    ended: async () => {
      const lists = await each(async ({ uid }) => {
        const summaries = await readSummaries(conn, project, uid, LISTED);
        return isUnavailable(summaries) ? undefined : summaries;
      });
      return lists?.flat();
    },
    keyed: (events) => readKeys(conn, { uid: project, workflows }, events),
    close: () => conn.close(),
  };
}

async function readKeys(
  conn: RunStoreConnection,
  { uid, workflows }: StoredProject,
  events: readonly SentEvent[],
): Promise<Record<string, string>> {
  const uids = new Map(workflows.map((workflow) => [workflow.name, workflow.uid]));
  const runs: Record<string, string> = {};
  const readOne = async ({ id, workflow }: SentEvent): Promise<void> => {
    const workflowUid = uids.get(workflow);
    if (workflowUid === undefined) return;
    const key = keysOf(uid).dedupe(workflowUid, dedupeHash(workflowUid, `caller/${id}`));
    const run = await conn.command('hget', key, 'run');
    if (typeof run === 'string') runs[id] = run;
  };
  for (let from = 0; from < events.length; from += PAGE) {
    await Promise.all(events.slice(from, from + PAGE).map(readOne));
  }
  return runs;
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
