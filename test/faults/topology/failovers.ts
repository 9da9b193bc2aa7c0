/** The kinds of failovers, and how each makes a replica the primary while the former one comes back. */
import { setTimeout as delay } from 'node:timers/promises';
import { pollUntil } from '../../support/time/poll.ts';
import type { StartStore } from '../storm/harness.ts';

export const FAILOVER_KINDS = ['kill', 'freeze', 'partition', 'empty'] as const;
export type FailoverKind = (typeof FAILOVER_KINDS)[number];

/** When another server was promoted, by the wall clock. */
export type Failover = { promotedAt: number };

/** A server of the run store that can fail. What is returned brings it back as a replica. */
export type FailingServer = {
  name: string;
  /** All of its processes are killed. */
  kill: () => Promise<() => Promise<unknown>>;
  /** It stands still, and its connections stay open. */
  freeze: () => Promise<() => Promise<unknown>>;
  /** It is killed, loses its data, and starts at once, as its pod would. */
  empty: () => Promise<() => Promise<unknown>>;
  /** No packet passes between it and the other servers. */
  partition: () => Promise<() => Promise<unknown>>;
};

export type ReplicatedStore = {
  /** The primary that has the runs, as most of those see it who promote; undefined while there is none. */
  primary: () => Promise<FailingServer | undefined>;
  /** Waits until all servers have all data, and one of them is the primary. */
  settled: (timeoutMs: number) => Promise<void>;
};

/** A replicated run store: what starts it, and afterwards, by the uid of the project, what fails. */
export type FailoverStore = {
  start: StartStore;
  storeOf: (project: string) => Promise<ReplicatedStore>;
};

/** Environment of the operator. The API server shares the processors: most runs become summaries. */
export const FEW_RECORDS = { PROJECT_RECORD_WRITES_PER_SECOND: '10' };

/** Sentinels of the members call a primary down after three seconds, the servers of a Cluster after 1.5. */
const PROMOTED_WITHIN_MS = 40_000;
/** Replicas copy everything, while the programs have the processors. */
const SETTLED_WITHIN_MS = 120_000;
/** How long the former primary stays away after the promotion. */
const AWAY_MS = 4_000;

/**
 * Makes the primary fail in that way, and resolves when it is back as a replica in sync. `onPromoted`
 * is called meanwhile. Throws where no other server is promoted in time.
 */
export async function failOver(
  store: ReplicatedStore,
  kind: FailoverKind,
  onBegin: (target: string) => void,
  onPromoted: (failover: Failover) => void,
): Promise<void> {
  const former = await pollUntil('a primary', store.primary, { timeoutMs: PROMOTED_WITHIN_MS });
  const back = await former[kind]();
  onBegin(former.name);
  try {
    const isPromoted = async () => {
      const primary = await store.primary();
      return primary !== undefined && primary.name !== former.name;
    };
    await pollUntil('a promoted server', isPromoted, { timeoutMs: PROMOTED_WITHIN_MS, everyMs: 20 });
    onPromoted({ promotedAt: Date.now() });
    await delay(AWAY_MS);
  } finally {
    await back();
  }
  await store.settled(SETTLED_WITHIN_MS);
}
