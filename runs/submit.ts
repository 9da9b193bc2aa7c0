/**
 * Accepting events: what `submit` has accepted is stored, once per dedupe key, and only that may be answered with 2xx.
 */
import { isTerminal } from '../api/phase.ts';
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { cancelRun } from './cancel.ts';
import { groupOf } from '../store/groups.ts';
import { keysOf, type ProjectKeys } from '../store/keys.ts';
import { ENQUEUE } from './lua.ts';
import { dedupeHash, newRunName } from './names.ts';
import type { RunHead } from './read.ts';
import { DEDUPE_KEY_BYTES, EXPIRING, RUN_OVERHEAD_BYTES } from './room.ts';
import { defineScript } from '../store/script.ts';
import type { Reply, Submission, Submitted } from './types.ts';
import { NOW } from '../store/lua.ts';

/**
 * Where the limit is reached, the oldest runs of the group make room: they are asked to end, durably, and named; the run that replaces each is noted. Those
 * that wait without a slot count too, since a newer run replaces them all the same.
 */
const REPLACE = `
local others = {}
for _, other in ipairs(redis.call('ZRANGEBYLEX', live, '[' .. group .. ' ', '(' .. group .. '!')) do
  local name = string.match(other, '[^ ]+$')
  if redis.call('SISMEMBER', cancels, name) == 0 then
    others[#others + 1] = name
  end
end
for index = 1, #others - limit + 1 do
  victims[index] = others[index]
  redis.call('HSET', replaced, others[index], run_id)
  redis.call('SADD', cancels, others[index])
  redis.call('PUBLISH', cancels, others[index])
end
redis.call('ZADD', live, 0, entry)
`;

const SUBMIT = defineScript({
  keys: ['meta', 'q', 'held', 'live', 'cancels', 'replaced', 'wf', 'runs', 'run', 'expiring', 'dk'],
  args: ['group', 'run_id', 'body_hash', 'size', 'head', 'input'],
  body: `
    local project = redis.call('HMGET', meta, 'id', 'bytes', 'quota', 'v')
    if not project[1] then
      return redis.error_reply('NOLOG the run store is empty')
    end
    if dk then
      local known = redis.call('HMGET', dk, 'run', 'body', 'reply', 'phase')
      if known[1] then
        -- Of a key that was put back from a record the body may not be known.
        if known[2] ~= '' and known[2] ~= body_hash then return {'conflict', known[1]} end
        return {'duplicate', known[1], known[3] or '', known[4] or ''}
      end
    end
    if redis.call('EXISTS', run) == 1 then return {'taken'} end
    local bytes = tonumber(project[2] or 0) + size
    if project[3] and bytes > tonumber(project[3]) then return {'full'} end
    ${NOW}
    local keys
    if dk then
      ${EXPIRING}
      settle(redis.call('HGET', meta, 'settled'))
      local kept = redis.call('HMGET', meta, 'keys', 'keyQuota')
      keys = tonumber(kept[1] or 0) + ${DEDUPE_KEY_BYTES}
      -- No key is forgotten before its time: a project that may keep no further one accepts no event that has one.
      if kept[2] and keys > tonumber(kept[2]) then return {'full', 'keys'} end
    end

    local limits = redis.call('HMGET', wf, 'limit', 'policy', 'timeout', 'active', 'vt', 'accepted', 'suspended')
    if limits[7] == '1' then return {'suspended'} end
    local limit, active, own = tonumber(limits[1] or 'inf'), tonumber(limits[4] or 0), limits[5]
    local over = active >= limit
    if over and limits[2] == 'Reject' then return {'rejected', limits[1]} end

    local accepted = time[1] .. string.format('%06d', time[2])
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    local victims = {}
    if limits[2] == 'Replace' then
      if over then redis.call('ZCARD', held) else redis.call('ZCARD', q) end
      ${REPLACE}
    end
    -- A key of a wrong type is found before anything of the run is stored: what fails leaves nothing behind.
    redis.call('ZADD', runs, accepted, run_id)
    if over then
      redis.call('ZADD', held, 0, entry)
    else
      ${ENQUEUE}
      own = enqueue(entry, project[4], own)
      active = active + 1
    end
    redis.call('HSET', run, 'phase', 'Pending', 'wf', group, 'accepted', accepted, 'bytes', size,
      'timeout', limits[3] or '', 'head', head, 'input', input)
    if dk then
      redis.call('HSET', dk, 'run', run_id, 'body', body_hash)
      redis.call('HSET', meta, 'bytes', bytes, 'keys', keys)
    else
      redis.call('HSET', meta, 'bytes', bytes)
    end
    redis.call('HSET', wf, 'active', active, 'vt', own or 0,
      'accepted', tonumber(limits[6] or 0) + 1, 'last', accepted)
    return {'accepted', unpack(victims)}
  `,
});

/**
 * Stores an event as a run, unless its workflow is suspended. The same dedupe key gives the same run, and with another body
 * `conflict`. A run that was named by the caller is its own dedupe key. `unavailable` does not say that nothing was stored, only that it is not known.
 */
export function submit(conn: RunStoreConnection, submission: Submission): Promise<Submitted> {
  return orUnavailable(() => store(conn, submission));
}

async function store(conn: RunStoreConnection, submission: Submission): Promise<Submitted> {
  const { project, workflow, workflowUid } = submission;
  const keys = keysOf(project);
  const key = keyOf(submission);
  const hash = key === undefined ? undefined : dedupeHash(workflowUid, key);
  // Never made from the key: once the key is forgotten, the object of the run that it named may still be there.
  const run = submission.run ?? newRunName(workflow);
  const answer = (await conn.script(SUBMIT, submitKeys(keys, submission, run, hash), [
    groupOf(submission),
    run,
    submission.bodyHash,
    sizeOf(submission),
    headOf(submission, hash),
    submission.input,
  ])) as string[];
  const [outcome, detail = '', reply = '', phase = ''] = answer;
  if (outcome === 'accepted') return accepted(conn, submission, run, answer.slice(1));
  if (outcome === 'duplicate') {
    const kept = hash === undefined ? [] : [keys.reply(workflowUid, hash)];
    return duplicate(conn, keys.run(detail), kept, { run: detail, reply, phase });
  }
  if (outcome === 'conflict') return { outcome, run: detail };
  if (outcome === 'suspended') return { outcome };
  if (outcome === 'rejected') return { outcome, limit: Number(detail) };
  if (outcome === 'full')
    return { outcome: 'unavailable', why: 'full', retryAfterSeconds: detail === 'keys' ? 60 : 10 };
  // The name is taken: a new one where it was our choice, otherwise it stands for something else.
  return submission.run === undefined ? store(conn, submission) : { outcome: 'conflict', run };
}

/** What it is known by. What callers choose is never what a trigger, an object or a name gives. */
function keyOf(submission: Submission): string | undefined {
  const { dedupeKey, trigger } = submission;
  if (dedupeKey === undefined) return nameAsKey(submission);
  return trigger === 'webhook' || trigger === 'execute' ? `caller/${dedupeKey}` : dedupeKey;
}

/** An object, and a name that the caller chose, are submitted again and again until they are seen to run: once only. */
function nameAsKey({ run, recordUid }: Submission): string | undefined {
  return recordUid === undefined ? run && `run/${run}` : `object/${recordUid}`;
}

function submitKeys(
  keys: ProjectKeys,
  submission: Submission,
  run: string,
  hash: string | undefined,
): string[] {
  const { meta, q, held, live, cancels, expiring } = keys;
  const group = groupOf(submission);
  const all = [
    meta,
    q,
    held,
    live,
    cancels,
    keys.replaced,
    keys.wf(group),
    keys.runs(group),
    keys.run(run),
    expiring,
  ];
  if (hash !== undefined) all.push(keys.dk(submission.workflowUid, hash));
  return all;
}

function sizeOf({ input, dedupeKey = '', requestedBy = '' }: Submission): number {
  const [own = 0, key = 0, user = 0] = [input, dedupeKey, requestedBy].map((text) => Buffer.byteLength(text));
  return RUN_OVERHEAD_BYTES + own + key + user;
}

/** What never changes of a run, in one field: as JSON, which no script looks into. */
function headOf(submission: Submission, dedupeHash: string | undefined): string {
  const { workflow, revision, trigger, test, dedupeKey, retryOf, until, requestedBy, recordUid } = submission;
  const bodyHash = dedupeHash === undefined ? undefined : submission.bodyHash;
  const head: RunHead = {
    workflow,
    revision,
    trigger,
    test,
    dedupeKey,
    dedupeHash,
    bodyHash,
    retryOf,
    until,
    requestedBy,
    recordUid,
  };
  return JSON.stringify(head);
}

/** What was replaced and is held by nobody ends now; the rest is asked to, durably so since the submission. */
async function accepted(
  conn: RunStoreConnection,
  { project }: Submission,
  run: string,
  replaced: string[],
): Promise<Submitted> {
  await Promise.all(replaced.map((victim) => cancelRun(conn, project, victim)));
  return { outcome: 'accepted', run, duplicate: false };
}

/**
 * The reply is with the run until that is recorded, and under a key of its own for an hour afterwards. How a run without one ended is with
 * the dedupe key.
 */
async function duplicate(
  conn: RunStoreConnection,
  runKey: string,
  replyKeys: string[],
  { run, reply, phase }: { run: string; reply: string; phase: string },
): Promise<Submitted> {
  const known = { outcome: 'accepted', run, duplicate: true } as const;
  if (isTerminal(phase)) return { ...known, ended: phase };
  const found = await Promise.all([
    reply === '' ? conn.command('hget', runKey, 'reply') : reply,
    ...replyKeys.map((key) => conn.command('get', key)),
  ]);
  const text = found.find((value) => typeof value === 'string');
  return text === undefined ? known : { ...known, reply: JSON.parse(text) as Reply };
}
