/**
 * Reads records of runs with the gateway's own rights, for authorised callers of the internal listener only:
 * anonymous calls must not cause requests to the API server. Lists are tables without inputs and outputs.
 * Each answer is newer than its request. A workflow is listed at most ten times a second for all callers
 * together, and the lists of a namespace are limited, since one right covers all its workflows and names that
 * do not exist.
 */
import { GROUP, VERSION } from '../../api/group.ts';
import { isTerminal, type RunPhase } from '../../api/phase.ts';
import { WORKFLOW_RUN, type WorkflowRun } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { sleep, systemClock, type Clock } from '../../kube/clock.ts';
import { createBucket, secondsToWait, take, type Bucket } from '../limits/bucket.ts';
import { createRecentMap } from '../limits/boundedMaps.ts';
import { TooOften } from '../access/reviewLimit.ts';
import { namespacedResource } from '../../kube/resource.ts';

/** A row of the table. Times are milliseconds since 1970. */
export type ListedRecord = {
  run: string;
  phase: RunPhase;
  test: boolean;
  trigger?: string;
  requestedBy?: string;
  reason?: string;
  message?: string;
  /** Left out until the run store has accepted it. */
  acceptedAt?: number;
  startedAt?: number;
  endedAt?: number;
};

export type RecordLists = {
  /** Throws an ApiError if the API server does not answer, TooOften if the namespace is listed too often. */
  of(namespace: string, workflow: string): Promise<ListedRecord[]>;
};

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PAGE = 500;
const EVERY_MS = 100;
const PER_NAMESPACE = { requestsPerSecond: 50, burst: 100 };
const MAX_NAMESPACES = 2_048;
/** Short, because a person waits for the answer. */
const OPTIONS = { timeoutMs: 3_000, retries: 1 };

export function createRecordLists(client: Pick<KubeClient, 'raw'>, clock: Clock = systemClock): RecordLists {
  /** By workflow: the list request that has not been sent yet, and the time of the last one. */
  const waiting = new Map<string, Promise<ListedRecord[]>>();
  const askedAt = new Map<string, number>();
  const namespaces = createRecentMap<Bucket>(MAX_NAMESPACES);

  function takeFor(namespace: string): void {
    const now = clock.now();
    const bucket = namespaces.of(namespace, () => createBucket(PER_NAMESPACE, now));
    if (secondsToWait(bucket, now) > 0) throw new TooOften('too many lists of one namespace');
    take(bucket);
  }

  async function ask(key: string, namespace: string, workflow: string): Promise<ListedRecord[]> {
    await sleep(Math.max(0, (askedAt.get(key) ?? -Infinity) + EVERY_MS - clock.now()), undefined, clock);
    waiting.delete(key);
    for (const [other, at] of askedAt) if (clock.now() - at > EVERY_MS) askedAt.delete(other);
    askedAt.set(key, clock.now());
    return readTable(client, namespace, workflow);
  }

  return {
    of: async (namespace, workflow) => {
      const key = `${namespace}/${workflow}`;
      const shared = waiting.get(key);
      if (shared !== undefined) return shared;
      takeFor(namespace);
      const answer = ask(key, namespace, workflow);
      waiting.set(key, answer);
      return answer;
    },
  };
}

type Table = {
  metadata: { continue?: string };
  columnDefinitions: { name: string }[];
  rows: { cells: unknown[] }[] | null;
};

async function readTable(
  client: Pick<KubeClient, 'raw'>,
  namespace: string,
  workflow: string,
): Promise<ListedRecord[]> {
  const path = `/apis/${GROUP}/${VERSION}/namespaces/${namespace}/${WORKFLOW_RUN.plural}`;
  const query = { fieldSelector: `spec.workflow=${workflow}`, includeObject: 'None', limit: String(PAGE) };
  const records: ListedRecord[] = [];
  let next: string | undefined;
  do {
    const page = { ...query, ...(next !== undefined && { continue: next }) };
    const table = (await client.raw('GET', path, { query: page, accept: TABLE, ...OPTIONS })) as Table;
    const columns = table.columnDefinitions.map(({ name }) => name);
    records.push(...(table.rows ?? []).map(({ cells }) => recordOf(columns, cells)));
    next = table.metadata.continue;
  } while (next !== undefined && next !== '');
  return records;
}

function recordOf(columns: string[], cells: unknown[]): ListedRecord {
  const cell = (name: string): string | undefined => {
    const value = cells[columns.indexOf(name)];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const names = ['Trigger', 'Requested by', 'Reason', 'Message'];
  const [trigger, requestedBy, reason, message] = names.map(cell);
  const times = ['Accepted', 'Started', 'Completed'];
  const [acceptedAt, startedAt, endedAt] = times.map((name) => Date.parse(cell(name) ?? ''));
  const phase = (cell('Phase') ?? 'Pending') as RunPhase;
  return {
    run: cell('Name') ?? '',
    phase,
    test: cells[columns.indexOf('Test')] === true,
    ...(trigger !== undefined && { trigger }),
    ...(requestedBy !== undefined && { requestedBy }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(isTime(acceptedAt) && { acceptedAt }),
    ...(isTime(startedAt) && { startedAt }),
    ...(isTime(endedAt) && isTerminal(phase) && { endedAt }),
  };
}

function isTime(value: number | undefined): value is number {
  return value !== undefined && !Number.isNaN(value);
}

const workflowRuns = namespacedResource<WorkflowRun>(GROUP, VERSION, WORKFLOW_RUN.kind, WORKFLOW_RUN.plural);

/** Undefined if there is no record. Throws an ApiError if the API server does not answer. */
export async function readRecord(
  { client }: { client: Pick<KubeClient, 'find'> },
  namespace: string,
  run: string,
): Promise<WorkflowRun | undefined> {
  return client.find(workflowRuns, { namespace, name: run }, OPTIONS);
}
