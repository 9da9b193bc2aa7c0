/** The kinds of failovers, and how each makes a replica the primary while the former one comes back. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from '../../support/runStore/members.ts';
import { pollUntil } from '../../support/time/poll.ts';
import type { MembersStore } from './store.ts';

export const FAILOVER_KINDS = ['kill', 'freeze', 'partition', 'empty'] as const;
export type FailoverKind = (typeof FAILOVER_KINDS)[number];

/** When another member was promoted, by the wall clock. */
export type Failover = { promotedAt: number };

/** Sentinels of the members call a primary down after three seconds. */
const PROMOTED_WITHIN_MS = 40_000;
/** How long the former primary stays away after the promotion. */
const AWAY_MS = 4_000;

/**
 * Makes the primary fail in that way, and resolves when it is back as a replica in sync. `onPromoted`
 * is called meanwhile. Throws where no other member is promoted in time.
 */
export async function failOver(
  store: MembersStore,
  kind: FailoverKind,
  onBegin: (target: string) => void,
  onPromoted: (failover: Failover) => void,
): Promise<void> {
  const former = await pollUntil('a primary', store.primary, { timeoutMs: PROMOTED_WITHIN_MS });
  const back = await FAIL[kind](store, former);
  onBegin(former.host);
  try {
    const isPromoted = async () => {
      const primary = await store.primary();
      return primary !== undefined && primary !== former;
    };
    await pollUntil('a promoted member', isPromoted, { timeoutMs: PROMOTED_WITHIN_MS, everyMs: 20 });
    onPromoted({ promotedAt: Date.now() });
    await delay(AWAY_MS);
  } finally {
    await back();
  }
  await store.settled(PROMOTED_WITHIN_MS);
}

/** Each returns what brings the former primary back. */
const FAIL: Record<FailoverKind, (store: MembersStore, former: Member) => Promise<() => Promise<unknown>>> = {
  kill: async (_store, former) => {
    await former.kill();
    return () => former.start();
  },
  freeze: async (_store, former) => {
    const thaw = former.freeze();
    return async () => thaw();
  },
  partition: (store, former) => store.partition(former),
  // It starts at once, as its pod would: it must not become the primary again.
  empty: async (_store, former) => {
    await former.lose();
    await former.start();
    return async () => undefined;
  },
};
