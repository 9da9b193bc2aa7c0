/**
 * Runs whose record is behind, shared by all recorders of a project: who writes which record, and how many
 * writes the API server accepts.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../../store/lua.ts';
import { defineScript } from '../../store/script.ts';
import { LEASE_MS } from '../lua.ts';
import type { RunState } from '../types/run.ts';

const QUARANTINE_MS = { first: 5_000, longest: 600_000 };

/** Leases runs whose record is behind, the longest first. */
const LEASE = defineScript({
  flags: 'drains',
  keys: ['meta', 'unrecorded'],
  args: ['count'],
  answers: 'the runs; milliseconds until the record of the next run is behind, or -1',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local leased = redis.call('ZRANGE', unrecorded, '-inf', now, 'BYSCORE', 'LIMIT', 0, count)
    for _, run_id in ipairs(leased) do
      redis.call('ZADD', unrecorded, now + ${LEASE_MS}, run_id)
    end
    local next_at = redis.call('ZRANGE', unrecorded, 0, 0, 'WITHSCORES')[2]
    return {leased, next_at and math.max(0, next_at - now) or -1}
  `,
});

/** Pays costs in the order given, as many as there are tokens for. Tokens of one second can be saved. */
const SPEND = defineScript({
  flags: 'drains',
  keys: ['meta'],
  lists: { costs: { args: ['cost'] } },
  answers: 'how many costs are paid',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local rate, tokens, filled = unpack(redis.call('HMGET', meta, 'rate', 'tokens', 'filled'))
    rate = tonumber(rate or 0)
    local seconds = math.max(0, now - tonumber(filled or 0)) / 1000
    tokens = math.min(rate, tonumber(tokens or rate) + seconds * rate)
    local paid = 0
    for _, cost in costs() do
      if tokens < tonumber(cost) then break end
      tokens = tokens - cost
      paid = paid + 1
    end
    redis.call('HSET', meta, 'tokens', tokens, 'filled', now)
    return paid
  `,
});

const POSTPONE = defineScript({
  flags: 'drains',
  keys: ['meta', 'unrecorded'],
  args: ['delay'],
  lists: { postponed: { args: ['run_id'] } },
  answers: 'nothing',
  body: `
    ${NOW}
    for _, run_id in postponed() do
      redis.call('ZADD', unrecorded, 'XX', now + delay, run_id)
    end
  `,
});

const QUARANTINE = defineScript({
  flags: 'drains',
  keys: ['meta', 'run', 'unrecorded'],
  args: ['run_id'],
  answers: 'how often the run was quarantined; 0 where it is gone',
  body: `
    if redis.call('EXISTS', run) == 0 then
      redis.call('ZREM', unrecorded, run_id)
      return 0
    end
    ${NOW}
    local times = redis.call('HINCRBY', run, 'refused', 1)
    local delay = math.min(${QUARANTINE_MS.longest}, ${QUARANTINE_MS.first} * 2 ^ (times - 1))
    redis.call('ZADD', unrecorded, 'XX', now + delay, run_id)
    return times
  `,
});

/**
 * Leases up to `count` runs whose record is behind, the longest first. For 30 s no other recorder gets them.
 * Answers also in how many milliseconds the record of the next run is behind; undefined without one.
 */
export function lease(
  conn: RunStoreConnection,
  project: ProjectUid,
  count: number,
): Promise<{ outcome: 'leased'; runs: string[]; nextMs: number | undefined } | Unavailable> {
  const { meta, unrecorded } = keysOf(project);
  return orUnavailable(async () => {
    const answer = await conn.script(LEASE, [meta, unrecorded], [count]);
    const [runs, next] = answer as [string[], number];
    return { outcome: 'leased', runs, nextMs: next < 0 ? undefined : next };
  });
}

/** How many of the costs, in this order, the write budget pays now. */
export function spend(
  conn: RunStoreConnection,
  project: ProjectUid,
  costs: number[],
): Promise<number | Unavailable> {
  if (costs.length === 0) return Promise.resolve(0);
  return orUnavailable(async () => (await conn.script(SPEND, [keysOf(project).meta], costs)) as number);
}

/** Ends the lease of runs after a delay. Runs with a negative delay are leased before others. */
export async function postpone(
  conn: RunStoreConnection,
  project: ProjectUid,
  runs: RunState[],
  delayMs: number,
): Promise<void> {
  if (runs.length === 0) return;
  const names = runs.map(({ run }) => run);
  const { meta, unrecorded } = keysOf(project);
  await orUnavailable(() => conn.script(POSTPONE, [meta, unrecorded], [delayMs, ...names]));
}

/** Postpones a run whose record alone is refused, longer each time. Answers how often that was. */
export function quarantine(
  conn: RunStoreConnection,
  { project, run }: RunState,
): Promise<number | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(
    async () => (await conn.script(QUARANTINE, [keys.meta, keys.run(run), keys.unrecorded], [run])) as number,
  );
}

/** Removes a run that is gone. */
export async function forget(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<void> {
  await orUnavailable(() => conn.command('zrem', keysOf(project).unrecorded, run));
}
