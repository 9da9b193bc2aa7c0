/**
 * What is not recorded yet, shared by all runners of a project: who works on which run, how many writes may be made, and
 * what goes from the store when a run is recorded, or when there are more than the workflow's history would keep.
 */
import { transitionKeys } from '../advance.ts';
import { orUnavailable, type RunStoreConnection } from '../connection.ts';
import { keysOf } from '../keys.ts';
import { COALESCE_MS, LEASE_MS, NOW, REQUIRE_STORE } from '../lua.ts';
import { defineScript } from '../script.ts';
import type { ProjectUid, RunState, Unavailable } from '../types.ts';
import { toSummary } from './record.ts';

const RUN_KEPT_S = 10;
export const DEDUPE_KEPT_S = 7 * 24 * 3600;
const LINES_KEPT = 10_000;
/** Of a workflow whose limits the operator has not set. */
const HISTORY = 10;
/** A larger reply is not kept with the dedupe key. */
const REPLY_KEPT_BYTES = 64 * 1024;

/** Takes runs whose record is behind for at least `age` ms, the longest first, for a while. */
const LEASE = defineScript({
  flags: 'drains',
  keys: ['meta', 'out'],
  args: ['count', 'age'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local runs = redis.call('ZRANGE', out, '-inf', now - age, 'BYSCORE', 'LIMIT', 0, count)
    for _, run in ipairs(runs) do
      redis.call('ZADD', out, now + ${LEASE_MS}, run)
    end
    return runs
  `,
});

/** Pays costs in the order given, as many as there are tokens for; a second's worth of tokens can be saved. */
const SPEND = defineScript({
  flags: 'drains',
  keys: ['meta'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local budget = redis.call('HMGET', meta, 'rate', 'tokens', 'filled')
    local rate = tonumber(budget[1] or 0)
    local passed = math.max(0, now - tonumber(budget[3] or 0)) / 1000
    local tokens = math.min(rate, tonumber(budget[2] or rate) + passed * rate)
    local paid = 0
    while paid < #ARGV and tokens >= tonumber(ARGV[paid + 1]) do
      tokens = tokens - ARGV[paid + 1]
      paid = paid + 1
    end
    redis.call('HSET', meta, 'tokens', tokens, 'filled', now)
    return paid
  `,
});

const RECORDED = defineScript({
  flags: 'drains',
  keys: ['meta', 'out', 'wf', 'run', 'done', 'dk'],
  args: ['run_id', 'sequence', 'why', 'line'],
  body: `
    local state = redis.call('HMGET', run, 'phase', 'sequence', 'ended', 'bytes', 'dropped', 'reply')
    if not state[1] or state[5] then
      redis.call('ZREM', out, run_id)
      return 'gone'
    end
    ${NOW}
    local phase, ended = state[1], state[3]
    local waiting, keep = 'waiting:' .. phase, 'keep:' .. phase
    if why == 'surplus' then
      local counts = redis.call('HMGET', wf, waiting, keep)
      if tonumber(counts[1] or 0) <= tonumber(counts[2] or ${HISTORY}) then
        redis.call('ZADD', out, now, run_id)
        return 'kept'
      end
    end
    if (state[2] or '0') ~= sequence then
      redis.call('ZADD', out, ended and now or now + ${COALESCE_MS}, run_id)
      return 'behind'
    end
    redis.call('ZREM', out, run_id)
    if not ended then return 'recorded' end

    redis.call('HSET', run, 'dropped', 1)
    redis.call('EXPIRE', run, ${RUN_KEPT_S})
    redis.call('HINCRBY', meta, 'bytes', -state[4])
    if redis.call('EXISTS', wf) == 1 then
      redis.call('HINCRBY', wf, waiting, -1)
      redis.call('LPUSH', done, line)
      redis.call('LTRIM', done, 0, ${LINES_KEPT - 1})
    end
    if dk then
      redis.call('EXPIRE', dk, ${DEDUPE_KEPT_S})
      if state[6] and #state[6] <= ${REPLY_KEPT_BYTES} then
        redis.call('HSET', dk, 'reply', state[6])
      end
    end
    return 'recorded'
  `,
});

/** Takes up to `count` runs whose record is behind for so long, the longest first; for 30 s no other recorder gets them. */
export function lease(
  conn: RunStoreConnection,
  project: ProjectUid,
  count: number,
  ageMs = 0,
): Promise<string[] | Unavailable> {
  const { meta, out } = keysOf(project);
  return orUnavailable(async () => (await conn.script(LEASE, [meta, out], [count, ageMs])) as string[]);
}

/** How many of the costs, in this order, the write budget pays for now. */
export function spend(
  conn: RunStoreConnection,
  project: ProjectUid,
  costs: number[],
): Promise<number | Unavailable> {
  if (costs.length === 0) return Promise.resolve(0);
  return orUnavailable(async () => (await conn.script(SPEND, [keysOf(project).meta], costs)) as number);
}

/**
 * - `recorded`: the record is as the run, which, if it has ended, goes from the store in ten seconds; its line stays.
 * - `behind`: the run went on meanwhile, and will be recorded again.
 * - `kept`: no surplus; the run still waits to be recorded.
 * - `gone`: it was not there any more.
 */
export type Dropped = 'recorded' | 'behind' | 'kept' | 'gone';

/**
 * Says that this very state of the run is recorded; or, with `surplus`, that it cannot be recorded now, and need not be if more
 * of its workflow's runs wait for that than its history keeps.
 */
export function recorded(
  conn: RunStoreConnection,
  state: RunState,
  why: 'written' | 'surplus',
): Promise<Dropped | Unavailable> {
  const keys = keysOf(state.project);
  const line = state.endedAt === undefined ? '' : JSON.stringify(toSummary(state));
  const all = [
    keys.meta,
    keys.out,
    keys.wf(state.workflowUid),
    keys.run(state.run),
    keys.done(state.workflowUid),
  ];
  if (state.dedupeHash !== undefined) all.push(keys.dk(state.workflowUid, state.dedupeHash));
  return orUnavailable(async () => {
    return (await conn.script(RECORDED, all, [state.run, state.sequence, why, line])) as Dropped;
  });
}

/** Gives a run back that could not be written: in its old place if it has ended, so that the oldest still come first. */
export async function putBack(conn: RunStoreConnection, { project, run, endedAt }: RunState): Promise<void> {
  await orUnavailable(() => conn.script(PUT_BACK, [keysOf(project).out], [run, 0, endedAt ?? '']));
}

/** Leaves a run to be taken again after a while. */
export async function postpone(
  conn: RunStoreConnection,
  { project, run }: RunState,
  delayMs: number,
): Promise<void> {
  await orUnavailable(() => conn.script(PUT_BACK, [keysOf(project).out], [run, delayMs, '']));
}

/** Takes a run out that is not there any more. */
export async function forget(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<void> {
  await orUnavailable(() => conn.command('zrem', keysOf(project).out, run));
}

/** Remembers the object that a run is recorded in: from now on it is never made again. */
export function noteObject(
  conn: RunStoreConnection,
  { project, run, workflowUid }: RunState,
  uid: string,
): Promise<unknown> {
  return orUnavailable(() =>
    conn.script(NOTE_OBJECT, transitionKeys(NOTE_OBJECT, { project, run, workflowUid }), [uid]),
  );
}

const PUT_BACK = defineScript({
  flags: 'drains',
  keys: ['out'],
  args: ['run_id', 'delay', 'at'],
  body: `
    ${NOW}
    return redis.call('ZADD', out, 'XX', at == '' and now + delay or at, run_id)
  `,
});

const NOTE_OBJECT = defineScript({
  flags: 'drains',
  keys: ['run'],
  args: ['uid'],
  body: `
    if redis.call('EXISTS', run) == 0 then return 0 end
    return redis.call('HSET', run, 'recorded', uid)
  `,
});
