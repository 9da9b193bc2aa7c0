/**
 * Which runner of a project polls its accounts: one at a time, for as long as it renews its lease. The
 * operator suspends the CronJob of poll pods meanwhile. The lease alone does not prevent two polls of an
 * account at once: each poll has a claim of its own (`claim.ts`), also that of a poll pod.
 */
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { NOW, REQUIRE_STORE } from '../lua.ts';
import { defineScript } from '../script.ts';

const LEASE_MS = 15_000;
/** How often to renew a lease. */
export const RENEW_LEASE_MS = 5_000;

export type PollerLease =
  /**
   * This runner polls these triggers. `changes` is another text after a trigger was added or changed, or may
   * work again.
   */
  | { outcome: 'claimed'; triggers: string[]; changes: string }
  /** Another runner has the lease, for so many milliseconds. */
  | { outcome: 'wait'; ms: number }
  /** The project has no polled trigger. */
  | { outcome: 'none' }
  | Unavailable;

const CLAIM_LEASE = defineScript({
  flags: 'drains',
  keys: ['meta', 'polls'],
  args: ['runner', 'lease'],
  answers: {
    claimed: 'counts of changes, then the triggers',
    wait: 'milliseconds until the lease of another runner expires',
    none: 'no trigger is polled',
  },
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local holder, until_ms, put, fixed, seen = unpack(
      redis.call('HMGET', meta, 'poller', 'pollerUntil', 'pollsPut', 'pollsFixed', 'pollsSeen'))
    if put and put ~= seen then redis.call('HSET', meta, 'pollsSeen', put) end
    if redis.call('EXISTS', polls) == 0 then
      if holder == runner then redis.call('HDEL', meta, 'poller', 'pollerUntil') end
      return {'none'}
    end
    -- A lease that expires too late is of a clock that went back since.
    local left = (tonumber(until_ms) or 0) - now
    if holder and holder ~= runner and left > 0 and left <= tonumber(lease) then return {'wait', left} end
    redis.call('HSET', meta, 'poller', runner, 'pollerUntil', now + tonumber(lease))
    return {'claimed', (put or '') .. '/' .. (fixed or ''), redis.call('SMEMBERS', polls)}
  `,
});

/** Claims or renews the lease for fifteen seconds, unless another runner has it. */
export function claimPollerLease(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<PollerLease> {
  const { meta, polls } = keysOf(project);
  return orUnavailable(async (): Promise<PollerLease> => {
    const answer = await conn.script(CLAIM_LEASE, [meta, polls], [runner, LEASE_MS]);
    const [outcome, detail, triggers] = answer as [string, string | number, string[]];
    if (outcome === 'none') return { outcome };
    if (outcome === 'wait') return { outcome, ms: Number(detail) };
    return { outcome: 'claimed', changes: String(detail), triggers };
  });
}

const RELEASE_LEASE = defineScript({
  flags: 'drains',
  keys: ['meta', 'polls'],
  args: ['runner'],
  answers: '1 where the runner had the lease',
  body: `
    if redis.call('HGET', meta, 'poller') ~= runner then return 0 end
    redis.call('HDEL', meta, 'poller', 'pollerUntil')
    redis.call('PUBLISH', polls, runner)
    return 1
  `,
});

/** Gives up the lease, if this runner has it, and tells the others. */
export function releasePollerLease(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<Done> {
  const { meta, polls } = keysOf(project);
  return doneOrUnavailable(() => conn.script(RELEASE_LEASE, [meta, polls], [runner]));
}
