/** Claiming: a runner takes ready runs, in an order that is fair between workflows, and holds each by a fresh token. */
import { isTerminal } from '../api/phase.ts';
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { keysOf, type ProjectKeys, type ProjectUid } from '../store/keys.ts';
import { ANNOUNCED, COALESCE_MS, EMIT, VANISHED } from './lua.ts';
import { parseRun } from './read.ts';
import { ROOM } from './room.ts';
import { defineScript } from '../store/script.ts';
import type { Claim, Claimed } from './types.ts';
import { NOW } from '../store/lua.ts';
import { randomText } from '../store/random.ts';

/** What the runs of one claim hold together, but for the first: an answer that takes too long is lost, and so is the next. */
const CLAIM_BYTES = 8 * 1024 * 1024;

/**
 * Claims, of the runs at the head of the queue, those that the caller has named: a script must declare the keys of the
 * runs that it touches. Answers with the head as it stands then, so that the next call can name it.
 */
const CLAIM = defineScript({
  flags: 'drains',
  keys: ['meta', 'q', 'held', 'due', 'claims', 'beats', 'cancels', 'out', 'live', 'replaced'],
  args: ['runner', 'max', 'random'],
  body: `
    local project = redis.call('HMGET', meta, 'id', 'v', 'bytes', 'claimQuota', 'growth', 'short')
    if not project[1] then
      return redis.error_reply('NOLOG the run store is empty')
    end
    redis.call('HSETNX', beats, runner, 0)
    max = tonumber(max)
    local declared = {}
    for index = 4, #ARGV do
      declared[ARGV[index]] = 11 + (index - 4) * 4
    end
    ${NOW}
    local wf, run, ev, runs, event_count, event_bytes
    ${VANISHED}
    ${EMIT}
    ${ROOM}
    local taken, short = {}, 0
    local admitted, begun_only = room(project[3], project[4], project[5])
    local virtual, bytes = tonumber(project[2] or 0), 0
    local head = redis.call('ZRANGE', q, 0, max - 1, 'WITHSCORES')
    for index = 1, #head, 2 do
      local entry, score = head[index], tonumber(head[index + 1])
      local at = declared[entry]
      if at then
        wf, run, ev, runs = KEYS[at], KEYS[at + 1], KEYS[at + 2], KEYS[at + 3]
        local uid, run_id = string.match(entry, '^([^ ]+) [^ ]+ ([^ ]+)$')
        local counts = redis.call('HMGET', wf, 'limit', 'active')
        local state = redis.call('HMGET', run, 'epoch', 'sequence', 'timeout', 'deadline', 'crashes', 'started', 'evcount', 'evbytes', 'progress', 'wf', 'bytes')
        local crashes = state[9] == '1' and 0 or tonumber(state[5] or 0)
        local alone, size = crashes >= 2, tonumber(state[11] or 0)
        if not state[10] then
          redis.call('ZREM', q, entry)
          vanished(run_id)
        elseif counts[1] and tonumber(counts[1]) < tonumber(counts[2] or 0) and redis.call('SISMEMBER', cancels, run_id) == 0 then
          -- One that is asked to end is claimed all the same, since nobody else ends it.
          redis.call('ZADD', held, 0, entry)
          redis.call('ZREM', q, entry)
          redis.call('HSET', wf, 'active', counts[2] - 1, 'vt', score)
          -- Its runner handed it back or died: until it is claimed again no time of it passes.
          local left = tonumber(state[4])
          if left then
            redis.call('HSET', run, 'timeout', math.max(0, left - now))
            redis.call('HDEL', run, 'deadline')
          end
        elseif #taken >= admitted then
          short = 1
          break
        elseif begun_only and not state[6] then
          short = 1
        elseif #taken > 0 and bytes + size > ${CLAIM_BYTES} then
          break
        elseif not alone or #taken == 0 then
          -- In this order: where a key is of a wrong type, the run stays in the queue, or the runner's to hand back.
          local token = runner .. '/' .. uid .. '/' .. random .. index
          redis.call('HSET', claims, run_id, token)
          redis.call('ZREM', q, entry)
          virtual = math.max(virtual, score)
          local deadline = tonumber(state[4] or state[3])
          if deadline and not state[4] then deadline = now + deadline end
          event_count, event_bytes = state[7] or 0, state[8] or 0
          emit('{"type":"run","phase":"Running"}')
          write_events()
          redis.call('HSET', run, 'phase', 'Running', 'epoch', math.max(tonumber(state[1] or 0), now) + 1,
            'sequence', tonumber(state[2] or 0) + 1, 'started', state[6] or wall, 'deadline', deadline or '',
            'progress', 0, 'crashes', crashes, 'evcount', event_count, 'evbytes', event_bytes)
          redis.call('ZADD', out, 'NX', now + ${COALESCE_MS}, run_id)
          redis.call('PUBLISH', run, 'event')
          taken[#taken + 1] = {
            run_id, token, deadline and math.max(0, deadline - now) or -1, alone and 1 or 0,
            redis.call('SISMEMBER', cancels, run_id), now, redis.call('HGETALL', run),
          }
          if alone then break end
          bytes = bytes + size
        end
      end
    end
    if #taken > 0 or short ~= tonumber(project[6] or 0) then
      redis.call('HSET', meta, 'v', virtual, 'short', short)
    end
    local rest = redis.call('ZRANGE', q, 0, max - 1)
    if rest[1] and #taken > 0 and short == 0 then
      redis.call('PUBLISH', q, rest[1])
    end
    return {taken, rest, short}
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

/** Another runner may take what we were told is at the head; so often is the new head tried at once. */
const ATTEMPTS = 8;

/** What was last seen at the head of each project's queue, per connection: with it a claim takes one round trip. */
const heads = new WeakMap<RunStoreConnection, Map<ProjectUid, string[]>>();

/** Claims up to `max` ready runs. A claim that is `alone` is the only one of its call. */
export function claimRuns(
  conn: RunStoreConnection,
  { project, runner, max }: { project: ProjectUid; runner: string; max: number },
): Promise<Claimed> {
  return orUnavailable(async () => {
    for (let attempt = 1; ; attempt += 1) {
      const [taken, rest, short] = await tryClaim(conn, project, runner, max);
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

/** Says that an entry has come to the queue, so that the next claim can name it. */
export function noteReady(conn: RunStoreConnection, project: ProjectUid, entry: string): void {
  const head = headsOf(conn).get(project) ?? [];
  if (head.length < ANNOUNCED && !head.includes(entry)) headsOf(conn).set(project, [...head, entry]);
}

async function tryClaim(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
  max: number,
): Promise<[Taken[], string[], number]> {
  const keys = keysOf(project);
  const head = (headsOf(conn).get(project) ?? []).slice(0, max);
  const [taken, rest, short] = (await conn.script(
    CLAIM,
    [...fixedKeys(keys), ...head.flatMap((entry) => runKeys(keys, entry))],
    [runner, max, randomText(16), ...head],
  )) as [Taken[], string[], number];
  headsOf(conn).set(project, rest);
  return [taken, rest, short];
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
  const run = entry.slice(entry.lastIndexOf(' ') + 1);
  const group = entry.slice(0, entry.indexOf(' '));
  return [keys.wf(group), keys.run(run), keys.ev(run), keys.runs(group)];
}

function claimOf(
  project: ProjectUid,
  [run, token, remaining, alone, cancel, claimedAt, fields]: Taken,
): Claim {
  const state = parseRun(project, run, pairs(fields), cancel === 1);
  if (!state || isTerminal(state.phase)) throw new Error('a run that has ended was ready');
  const remainingMs = remaining < 0 ? Infinity : remaining;
  return { token, state, remainingMs, claimedAt, alone: alone === 1 };
}

function pairs(flat: string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index < flat.length; index += 2) fields[flat[index] ?? ''] = flat[index + 1] ?? '';
  return fields;
}
