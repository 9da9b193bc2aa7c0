/**
 * What is not recorded yet, shared by all runners of a project: who works on which run, how many writes may be made, and
 * what goes from the store when a run is recorded, or when there are more than the workflow's history would keep.
 */
import { transitionKeys } from '../advance.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { COALESCE_MS, LEASE_MS } from '../lua.ts';
import {
  ANNOUNCE_ROOM,
  BESIDE_KEYS,
  DEDUPE_KEPT_S,
  DEDUPE_KEY_BYTES,
  EXPIRING,
  REPLY_KEPT_S,
  REPLY_OVERHEAD_BYTES,
  RUN_KEPT_S,
  SUMMARIES_KEPT,
  SUMMARY_OVERHEAD_BYTES,
} from '../room.ts';
import { defineScript } from '../../store/script.ts';
import type { RunState } from '../types.ts';
import { toSummary } from './record.ts';
import { NOW, REQUIRE_STORE } from '../../store/lua.ts';
import { randomText } from '../../store/random.ts';

/** How many waiting runs stay, of a workflow whose limits the operator has not set. */
export const HISTORY = 10;
/** Summaries that go at once where all of the project's take too much. */
const EVICTED = 20;
/** A run that ended within this time may still be recorded at once. */
const SETTLED_MS = 1_000;
const QUARANTINE_MS = { first: 5_000, longest: 600_000 };
/** A larger reply is not kept with the dedupe key. */
const REPLY_KEPT_BYTES = 64 * 1024;

/** What `creating` of a run says where several attempts to create its object may have succeeded. */
const AMBIGUOUS = 'ambiguous';

/** Takes runs whose record is behind, the longest first, for a while. */
const LEASE = defineScript({
  flags: 'drains',
  keys: ['meta', 'out'],
  args: ['count'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local runs = redis.call('ZRANGE', out, '-inf', now, 'BYSCORE', 'LIMIT', 0, count)
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

/**
 * `keep_summary()`: keeps the summary of a run. Where the workflow has too many, or the project's take too much, the workflow's oldest go,
 * but for one. Needs the keys and arguments of RECORDED, `limits` and `state`.
 */
const KEEP_SUMMARY = `
local function keep_summary()
  redis.call('ZADD', done, state[7], run_id)
  redis.call('HSET', lines, run_id, line)
  local added = ${SUMMARY_OVERHEAD_BYTES} + #line
  local most = (tonumber(limits[1]) or math.huge) * ${BESIDE_KEYS} - tonumber(limits[2] or 0)
  local count = redis.call('ZCARD', done)
  local surplus = count - ${SUMMARIES_KEPT}
  if added > most then
    surplus = math.max(surplus, math.min(${EVICTED}, count - 1))
  end
  for index, name in ipairs(surplus > 0 and redis.call('ZRANGE', done, 0, surplus - 1) or {}) do
    if added <= most and count - index < ${SUMMARIES_KEPT} then break end
    added = added - ${SUMMARY_OVERHEAD_BYTES} - redis.call('HSTRLEN', lines, name)
    redis.call('ZREM', done, name)
    redis.call('HDEL', lines, name)
  end
  redis.call('HINCRBY', wf, 'summaries', added)
  redis.call('HINCRBY', meta, 'summaries', added)
end
`;

/**
 * `keep_key()`: the dedupe key is kept for days, the reply for an hour where there is room, and otherwise how the run ended. Needs what
 * KEEP_SUMMARY needs, and EXPIRING.
 */
const KEEP_KEY = `
local function keep_key()
  -- A key with a phase is kept for days already: another run had it.
  if redis.call('HSETNX', dk, 'phase', state[6] and '' or state[1]) == 0 then return end
  redis.call('EXPIRE', dk, ${DEDUPE_KEPT_S})
  expire_later('keys', ${DEDUPE_KEY_BYTES}, ${DEDUPE_KEPT_S})
  local size = state[6] and #state[6] + ${REPLY_OVERHEAD_BYTES}
  local most = (tonumber(limits[1]) or math.huge) * ${BESIDE_KEYS} - tonumber(limits[3] or 0)
  if size and #state[6] <= ${REPLY_KEPT_BYTES} and size <= most then
    redis.call('SET', reply, state[6], 'EX', ${REPLY_KEPT_S})
    expire_later('replies', size, ${REPLY_KEPT_S})
    redis.call('HINCRBY', meta, 'replies', size)
  end
end
`;

/**
 * Lets go what is recorded. What is surplus goes too: the run has ended for a while, its workflow has more of them waiting than
 * its history keeps, and nobody began to make its object, which would then stay as it is for ever.
 */
const RECORDED = defineScript({
  flags: 'drains',
  keys: ['meta', 'q', 'out', 'wf', 'run', 'runs', 'done', 'lines', 'expiring', 'dk', 'reply'],
  args: ['run_id', 'sequence', 'why', 'line'],
  body: `
    ${REQUIRE_STORE}
    local state = redis.call('HMGET', run, 'phase', 'sequence', 'ended', 'bytes', 'dropped', 'reply', 'accepted',
      'recorded', 'creating')
    if not state[1] or state[5] then
      redis.call('ZREM', out, run_id)
      return 'gone'
    end
    ${NOW}
    local phase, ended = state[1], state[3]
    local waiting, keep = 'waiting:' .. phase, 'keep:' .. phase
    if why == 'surplus' then
      local counts = redis.call('HMGET', wf, waiting, keep)
      if not ended or state[8] or state[9] or math.abs(wall - ended) < ${SETTLED_MS}
        or tonumber(counts[1] or 0) <= tonumber(counts[2] or ${HISTORY}) then
        return 'kept'
      end
    end
    if (state[2] or '0') ~= sequence then
      redis.call('ZADD', out, ended and now or now + ${COALESCE_MS}, run_id)
      return 'behind'
    end
    if not ended then
      redis.call('ZREM', out, run_id)
      return 'recorded'
    end

    -- First whatever may find a key of a wrong type: what fails has let nothing go, and is done again.
    redis.call('HEXISTS', wf, waiting)
    redis.call('ZCARD', done)
    redis.call('HEXISTS', lines, run_id)
    if dk then redis.call('HEXISTS', expiring, run_id) end
    -- Where the key was removed by hand the event may be another run by now.
    local is_deduped = dk and redis.call('HGET', dk, 'run') == run_id
    redis.call('ZREM', runs, run_id)
    redis.call('ZREM', out, run_id)
    redis.call('HSET', run, 'dropped', 1)
    redis.call('EXPIRE', run, ${RUN_KEPT_S})
    redis.call('HINCRBY', meta, 'bytes', 0 - state[4])
    local limits = redis.call('HMGET', meta, 'keyQuota', 'summaries', 'replies', 'short')
    -- Of a workflow that was dropped, and of a key that is forgotten, nothing is kept, or it would be there again.
    if redis.call('HEXISTS', wf, 'accepted') == 1 then
      -- Where somebody removed the workflow's key, the runs that waited are not counted any more.
      redis.call('HSET', wf, waiting, math.max(0, tonumber(redis.call('HGET', wf, waiting) or 0) - 1))
      ${KEEP_SUMMARY}
      keep_summary()
    end
    if is_deduped then
      ${EXPIRING}
      ${KEEP_KEY}
      keep_key()
    elseif dk then
      redis.call('HINCRBY', meta, 'keys', -${DEDUPE_KEY_BYTES})
    end
    ${ANNOUNCE_ROOM}
    announce_room(limits[4])
    return 'recorded'
  `,
});

/**
 * Begins an attempt to create a run's object, unless the run was dropped meanwhile. Once a second attempt begins while an earlier one
 * may have succeeded, no attempt can tell any more that there is no object.
 */
const BEGIN_CREATE = defineScript({
  flags: 'drains',
  keys: ['run'],
  args: ['attempt'],
  body: `
    local state = redis.call('HMGET', run, 'phase', 'dropped', 'creating')
    if not state[1] or state[2] then return 0 end
    redis.call('HSET', run, 'creating', state[3] and '${AMBIGUOUS}' or attempt)
    return 1
  `,
});

const UNDO_CREATE = defineScript({
  flags: 'drains',
  keys: ['run'],
  args: ['attempt'],
  body: `
    if redis.call('HGET', run, 'creating') ~= attempt then return 0 end
    return redis.call('HDEL', run, 'creating')
  `,
});

/** Puts a run aside for longer each time. */
const QUARANTINE = defineScript({
  flags: 'drains',
  keys: ['meta', 'run', 'out'],
  args: ['run_id'],
  body: `
    if redis.call('EXISTS', run) == 0 then
      redis.call('ZREM', out, run_id)
      return 0
    end
    ${NOW}
    local times = redis.call('HINCRBY', run, 'refused', 1)
    redis.call('ZADD', out, 'XX', now + math.min(${QUARANTINE_MS.longest}, ${QUARANTINE_MS.first} * 2 ^ (times - 1)), run_id)
    return times
  `,
});

/** Takes up to `count` runs whose record is behind, the longest first; for 30 s no other recorder gets them. */
export function lease(
  conn: RunStoreConnection,
  project: ProjectUid,
  count: number,
): Promise<string[] | Unavailable> {
  const { meta, out } = keysOf(project);
  return orUnavailable(async () => (await conn.script(LEASE, [meta, out], [count])) as string[]);
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
 * Says that this very state of the run is recorded; or, with `surplus`, that it need not be, if more of its workflow's runs wait
 * for that than its history keeps.
 */
export function recorded(
  conn: RunStoreConnection,
  state: RunState,
  why: 'written' | 'surplus',
): Promise<Dropped | Unavailable> {
  const keys = keysOf(state.project);
  const line = state.endedAt === undefined ? '' : JSON.stringify(toSummary(state));
  const { run, workflowUid, group, dedupeHash } = state;
  const ofGroup = [keys.runs, keys.done, keys.lines].map((key) => key(group));
  const { meta, q, out, wf, expiring } = keys;
  const all = [meta, q, out, wf(group), keys.run(run), ...ofGroup, expiring];
  if (dedupeHash !== undefined)
    all.push(keys.dk(workflowUid, dedupeHash), keys.reply(workflowUid, dedupeHash));
  return orUnavailable(async () => {
    return (await conn.script(RECORDED, all, [run, state.sequence, why, line])) as Dropped;
  });
}

/** Leaves runs to be taken again after a while; after less than none they are taken before others. */
export async function postpone(
  conn: RunStoreConnection,
  project: ProjectUid,
  runs: RunState[],
  delayMs: number,
): Promise<void> {
  if (runs.length === 0) return;
  const names = runs.map(({ run }) => run);
  const { meta, out } = keysOf(project);
  await orUnavailable(() => conn.script(POSTPONE, [meta, out], [delayMs, ...names]));
}

/** Puts a run aside that alone cannot be recorded, for longer each time; answers with how often that was. */
export function quarantine(
  conn: RunStoreConnection,
  { project, run }: RunState,
): Promise<number | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(
    async () => (await conn.script(QUARANTINE, [keys.meta, keys.run(run), keys.out], [run])) as number,
  );
}

/** One attempt to create the object of a run. */
export type CreateAttempt = string;

/**
 * Marks the run: its object is about to be created, so that the run stays in the store until it is recorded. Undefined: the run is gone.
 */
export async function beginCreate(
  conn: RunStoreConnection,
  { project, run }: RunState,
): Promise<CreateAttempt | undefined> {
  const attempt = randomText(16);
  const begun = await orUnavailable(() => conn.script(BEGIN_CREATE, [keysOf(project).run(run)], [attempt]));
  return begun === 1 ? attempt : undefined;
}

/**
 * Removes the mark after an attempt that certainly created no object. A mark that an earlier attempt left stays: that attempt may have
 * created the object without having been answered.
 */
export async function undoCreate(
  conn: RunStoreConnection,
  { project, run }: RunState,
  attempt: CreateAttempt,
): Promise<void> {
  await orUnavailable(() => conn.script(UNDO_CREATE, [keysOf(project).run(run)], [attempt]));
}

/** Takes a run out that is not there any more. */
export async function forget(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<void> {
  await orUnavailable(() => conn.command('zrem', keysOf(project).out, run));
}

/** Remembers the object that a run is recorded in: from now on it is never made again. */
export function noteObject(
  conn: RunStoreConnection,
  { project, run, group }: RunState,
  uid: string,
): Promise<unknown> {
  return orUnavailable(() =>
    conn.script(NOTE_OBJECT, transitionKeys(NOTE_OBJECT, { project, run, group }), [uid]),
  );
}

const POSTPONE = defineScript({
  flags: 'drains',
  keys: ['meta', 'out'],
  args: ['delay'],
  body: `
    ${NOW}
    for index = 2, #ARGV do
      redis.call('ZADD', out, 'XX', now + delay, ARGV[index])
    end
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
