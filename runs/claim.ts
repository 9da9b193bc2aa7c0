/**
 * Claims: a runner takes ready runs, in an order that is fair between workflows, and holds each by a new
 * token.
 */
import { isTerminal } from '../api/phase.ts';
import { fieldsOf } from '../store/fields.ts';
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { keysOf, type ProjectKeys, type ProjectUid } from '../store/keys.ts';
import { NOW_OF_READ, REQUIRE_STORE } from '../store/lua.ts';
import { randomText } from '../store/random.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { ANNOUNCED, COALESCE_MS, EVENTS, MISSING_RUN, MISSING_RUN_KEYS } from './lua.ts';
import { parseRun } from './read.ts';
import { groupOfEntry, runOfEntry } from './queueEntry.ts';
import { ROOM } from './room.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { Claim, Claimed } from './types/claim.ts';

/**
 * Bytes of the runs of one claim, without the first: an answer that takes too long is lost, and so is the
 * next.
 */
const CLAIM_BYTES = 8 * 1024 * 1024;

/**
 * `hold_back(entry, score, active, deadline)`: the run waits over the limit again, and releases its slot. Its
 * runner handed it back or died: its time does not pass until it is claimed again.
 */
const HOLD_BACK = defineFragment({
  needs: ['overLimit', 'ready', 'wf', 'run', 'now'],
  gives: ['hold_back'],
  lua: `
local function hold_back(entry, score, active, deadline)
  redis.call('ZADD', overLimit, 0, entry)
  redis.call('ZREM', ready, entry)
  redis.call('HSET', wf, 'active', active - 1, 'vt', score)
  if deadline then
    redis.call('HSET', run, 'timeout', math.max(0, deadline - now))
    redis.call('HDEL', run, 'deadline')
  end
end
`,
});

/** `begin_run(found)`: the claimed run is `Running`; answers it as `Taken`. */
const BEGIN_RUN = defineFragment({
  needs: ['run', 'now', 'wall', 'emit', 'write_events', 'event_count', 'event_bytes', 'is_cancelled'],
  gives: ['begin_run'],
  lua: `
local function begin_run(found)
  local run_id, deadline = found.run_id, found.deadline
  event_count, event_bytes = found.event_count or 0, found.event_bytes or 0
  emit('{"type":"run","phase":"Running"}')
  write_events()
  redis.call('HSET', run, 'phase', 'Running', 'epoch', math.max(tonumber(found.epoch or 0), now) + 1,
    'sequence', tonumber(found.sequence or 0) + 1, 'started', found.started or wall, 'deadline', deadline or '',
    'progress', 0, 'crashes', found.crashes, 'evcount', event_count, 'evbytes', event_bytes)
  redis.call('PUBLISH', run, 'event')
  return {
    run_id, found.token, deadline and math.max(0, deadline - now) or -1, found.is_alone and 1 or 0,
    is_cancelled(run_id), now, redis.call('HGETALL', run),
  }
end
`,
});

/**
 * `claim_runs(taken)`: claims the runs, and answers them. The claims come first: where a later key is of a
 * wrong type, the runner has claims to hand back.
 */
const CLAIM_RUNS = defineFragment({
  needs: ['claims', 'ready', 'unrecorded', 'now', 'wf', 'run', 'events', 'keys_of_entries', 'begin_run'],
  gives: ['claim_runs'],
  lua: `
local function claim_runs(taken)
  local answers, tokens, members, changes = {}, {}, {}, {}
  if #taken == 0 then return answers end
  for index, found in ipairs(taken) do
    local at = 2 * index
    members[index] = found.entry
    tokens[at - 1], tokens[at] = found.run_id, found.token
    changes[at - 1], changes[at] = now + ${COALESCE_MS}, found.run_id
  end
  redis.call('HSET', claims, unpack(tokens))
  redis.call('ZREM', ready, unpack(members))
  redis.call('ZADD', unrecorded, 'NX', unpack(changes))
  for index, found in ipairs(taken) do
    wf, run, events = keys_of_entries(found.row)
    answers[index] = begin_run(found)
  end
  return answers
end
`,
});

/** `is_cancelled(run_id)`: 1 where the run shall end, and 0 otherwise. Mostly no run shall. */
const IS_CANCELLED = defineFragment({
  needs: ['cancels'],
  gives: ['is_cancelled'],
  lua: `
local has_cancels = redis.call('EXISTS', cancels) == 1
local function is_cancelled(run_id)
  return has_cancels and redis.call('SISMEMBER', cancels, run_id) or 0
end
`,
});

/**
 * Claims runs at the head of the queue, of those that the caller names: a script must declare the keys of the
 * runs that it touches. The answer has the new head, for the next call to name.
 */
const CLAIM = defineScript({
  flags: 'drains',
  transitions: ['ready > claimed', 'ready > overLimit'],
  keys: ['meta', 'ready', 'overLimit', 'parked', 'claims', 'heartbeats', 'cancels', 'unrecorded'],
  args: ['runner', 'max', 'random'],
  lists: {
    entries: { args: ['entry'], keys: ['wf', 'run', 'events'] },
  },
  answers:
    'the claimed runs, as `Taken`; the entries at the head of the queue; 1 where runs wait for room; the ' +
    'entries of runs whose key is missing',
  body: `
    local store_id, last, ahead, virtual, bytes, quota, growth, was_short = unpack(
      redis.call('HMGET', meta, 'id', 'clock', 'ahead', 'v', 'bytes', 'claimQuota', 'growth', 'short'))
    if not store_id then return redis.error_reply('NOLOG the run store is empty') end
    redis.call('HSETNX', heartbeats, runner, 0)
    max = tonumber(max)
    local rows = {}
    for index, entry in entries() do rows[entry] = index end
    ${NOW_OF_READ}
    local wf, run, events, event_count, event_bytes
    ${EVENTS}
    ${HOLD_BACK}
    ${ROOM}
    ${IS_CANCELLED}
    ${BEGIN_RUN}
    ${CLAIM_RUNS}
    local taken, taken_bytes, short, missing = {}, 0, 0, {}
    local limits, actives = {}, {}
    local room_for, begun_only = room(bytes, quota, growth)
    virtual = tonumber(virtual or 0)
    local head = redis.call('ZRANGE', ready, 0, max - 1, 'WITHSCORES')
    for index = 1, #head, 2 do
      local entry, score = head[index], tonumber(head[index + 1])
      local row = rows[entry]
      if row then
        wf, run, events = keys_of_entries(row)
        local group, run_id = string.match(entry, '^([^ ]+) [^ ]+ ([^ ]+)$')
        if not actives[wf] then limits[wf], actives[wf] = unpack(redis.call('HMGET', wf, 'limit', 'active')) end
        local limit, active = limits[wf], actives[wf]
        local known, size, epoch, sequence, timeout, deadline, started, progress, crashes, ev_count, ev_bytes = unpack(
          redis.call('HMGET', run, 'wf', 'bytes', 'epoch', 'sequence', 'timeout', 'deadline', 'started', 'progress', 'crashes', 'evcount', 'evbytes'))
        size = tonumber(size or 0)
        crashes = progress == '1' and 0 or tonumber(crashes or 0)
        local is_alone = crashes >= 2
        if not known then
          missing[#missing + 1] = entry
        elseif limit and tonumber(limit) < tonumber(active or 0) and is_cancelled(run_id) == 0 then
          -- A run to cancel is claimed beyond the limit too, because nobody else ends it.
          hold_back(entry, score, active, tonumber(deadline))
          actives[wf] = nil
        elseif #taken >= room_for then
          short = 1
          break
        elseif begun_only and not started then
          short = 1
        elseif #taken > 0 and taken_bytes + size > ${CLAIM_BYTES} then
          break
        elseif not is_alone or #taken == 0 then
          local ends_at, found = tonumber(deadline or timeout), {}
          if ends_at and not deadline then ends_at = now + ends_at end
          found.entry, found.row, found.run_id = entry, row, run_id
          found.token = runner .. '/' .. group .. '/' .. random .. index
          found.deadline, found.epoch, found.sequence, found.started = ends_at, epoch, sequence, started
          found.crashes, found.is_alone = crashes, is_alone
          found.event_count, found.event_bytes = ev_count, ev_bytes
          virtual = math.max(virtual, score)
          taken[#taken + 1] = found
          if is_alone then break end
          taken_bytes = taken_bytes + size
        end
      end
    end
    local answers = claim_runs(taken)
    if #taken > 0 then
      redis.call('HSET', meta, 'v', virtual, 'short', short, 'claimed', now)
    elseif short ~= tonumber(was_short or 0) then
      redis.call('HSET', meta, 'v', virtual, 'short', short)
    end
    local rest = redis.call('ZRANGE', ready, 0, math.max(max, ${ANNOUNCED}) - 1)
    if rest[1] and #taken > 0 and short == 0 then redis.call('PUBLISH', ready, rest[1]) end
    return {answers, rest, short, missing}
  `,
});

/** Removes a ready run whose key somebody removed by hand. */
const FAIL_MISSING = defineScript({
  flags: 'drains',
  transitions: ['ready > none', 'overLimit > ready'],
  keys: ['meta', ...MISSING_RUN_KEYS, 'run'],
  args: ['run_id', 'entry'],
  answers: { fenced: 'the run is removed, or is not missing' },
  body: `
    ${REQUIRE_STORE}
    if redis.call('EXISTS', run) == 1 or redis.call('ZREM', ready, entry) == 0 then return 'fenced' end
    ${MISSING_RUN}
    return fail_missing(run_id)
  `,
});

type Taken = [
  run: string,
  token: string,
  remainingMs: number,
  alone: number,
  cancel: number,
  claimedAt: number,
  fields: string[],
];

type Answer = [taken: Taken[], rest: string[], short: number, missing: string[]];

/** How often a claim is repeated with the new head, where other runners took the runs of the old one. */
const ATTEMPTS = 8;

/** The head of each project's queue as last read, by connection: with it a claim takes one round trip. */
const heads = new WeakMap<RunStoreConnection, Map<ProjectUid, string[]>>();

/** Claims up to `max` ready runs. A claim that is `alone` is the only one of its call. */
export function claimRuns(
  conn: RunStoreConnection,
  { project, runner, max }: { project: ProjectUid; runner: string; max: number },
): Promise<Claimed> {
  return orUnavailable(async () => {
    for (let attempt = 1; ; attempt += 1) {
      const [taken, rest, short, missing] = await tryClaim(conn, project, runner, max);
      for (const entry of missing) await failMissing(conn, project, entry);
      if (taken.length > 0 || rest.length === 0 || short === 1 || attempt === ATTEMPTS)
        return {
          outcome: 'claimed',
          claims: taken.map((item) => claimOf(project, item)),
          more: taken.length > 0 && rest.length > 0 && short === 0,
          short: short === 1,
        };
    }
  });
}

/**
 * Calls `onReady` when a run may have become ready, and notes its entry for the next claim. A message may be
 * lost. `end` unsubscribes.
 */
export function watchReady(
  conn: RunStoreConnection,
  project: ProjectUid,
  onReady: () => void,
): { end(): void } {
  const subscription = conn.subscriber().subscribe(keysOf(project).ready, (entry) => {
    if (entry !== undefined) noteReady(conn, project, entry);
    onReady();
  });
  return { end: () => void subscription.then((it) => it.end()) };
}

/** Notes a new entry of the queue, so that the next claim can name it. */
function noteReady(conn: RunStoreConnection, project: ProjectUid, entry: string): void {
  const head = headsOf(conn).get(project) ?? [];
  if (head.length < ANNOUNCED && !head.includes(entry)) headsOf(conn).set(project, [...head, entry]);
}

async function tryClaim(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
  max: number,
): Promise<Answer> {
  const keys = keysOf(project);
  const head = (headsOf(conn).get(project) ?? []).slice(0, max);
  const answer = (await conn.script(
    CLAIM,
    [...fixedKeys(keys), ...head.flatMap((entry) => runKeys(keys, entry))],
    [runner, max, randomText(16), ...head],
  )) as Answer;
  headsOf(conn).set(project, answer[1]);
  return answer;
}

async function failMissing(conn: RunStoreConnection, project: ProjectUid, entry: string): Promise<void> {
  const subject = { project, run: runOfEntry(entry), group: groupOfEntry(entry) };
  const args = argumentsOf(FAIL_MISSING, { run_id: subject.run, entry });
  await conn.script(FAIL_MISSING, scriptKeys(FAIL_MISSING, subject), args);
}

function headsOf(conn: RunStoreConnection): Map<ProjectUid, string[]> {
  let map = heads.get(conn);
  if (!map) heads.set(conn, (map = new Map<ProjectUid, string[]>()));
  return map;
}

function fixedKeys(keys: ProjectKeys): string[] {
  return CLAIM.keys.map((name) => keys[name as keyof ProjectKeys] as string);
}

function runKeys(keys: ProjectKeys, entry: string): string[] {
  const run = runOfEntry(entry);
  return [keys.wf(groupOfEntry(entry)), keys.run(run), keys.events(run)];
}

function claimOf(
  project: ProjectUid,
  [run, token, remaining, alone, cancel, claimedAt, fields]: Taken,
): Claim {
  const state = parseRun(project, run, fieldsOf(fields), cancel === 1);
  if (!state || isTerminal(state.phase)) throw new Error('a run that has ended was ready');
  const remainingMs = remaining < 0 ? Infinity : remaining;
  return { token, state, remainingMs, claimedAt, alone: alone === 1 };
}
