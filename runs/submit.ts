/**
 * Accepting events: what `submit` has accepted is stored, once per dedupe key, and only that may be answered with 2xx.
 */
import { isUnavailable, orUnavailable, type RunStoreConnection } from './connection.ts';
import { cancelRun } from './cancel.ts';
import { keysOf, type ProjectKeys } from './keys.ts';
import { ENQUEUE, NOW, QUEUE_KEYS } from './lua.ts';
import { dedupeHash, keyedRunName, newRunName } from './names.ts';
import { defineScript } from './script.ts';
import type { Reply, Submission, Submitted } from './types.ts';

/** What a run takes beside its values: fields, indexes, dedupe key, first events. */
const RUN_OVERHEAD_BYTES = 1_500;

const SUBMIT = defineScript({
  keys: [...QUEUE_KEYS, 'live', 'counts', 'cancels', 'run', 'dk'],
  args: ['wf', 'run_id', 'body_hash', 'size'],
  body: `
    local store = redis.call('HMGET', meta, 'id', 'bytes', 'quota')
    if not store[1] then
      return redis.error_reply('NOLOG the run store is empty')
    end
    if dk then
      local known = redis.call('HMGET', dk, 'run', 'body', 'reply')
      if known[1] then
        if known[2] ~= body_hash then return {'conflict', known[1]} end
        return {'duplicate', known[1], known[3] or ''}
      end
    end
    if redis.call('EXISTS', run) == 1 then return {'taken'} end

    if store[3] and tonumber(store[2] or 0) + size > tonumber(store[3]) then
      return {'full'}
    end

    ${NOW}
    ${ENQUEUE}
    local limits = redis.call('HMGET', cfg, wf .. ':limit', wf .. ':policy', wf .. ':timeout')
    local limit = tonumber(limits[1] or 'inf')
    local over = limit <= tonumber(redis.call('HGET', active, wf) or 0)
    local replaced = {}
    if over and limits[2] == 'Reject' then
      return {'rejected', limits[1]}
    end
    if over and limits[2] == 'Replace' then
      local wanted = {}
      for _, entry in ipairs(redis.call('ZRANGEBYLEX', live, '[' .. wf .. ' ', '(' .. wf .. '!')) do
        local name = string.match(entry, '[^ ]+$')
        if redis.call('SISMEMBER', cancels, name) == 0 then
          wanted[#wanted + 1] = name
        end
      end
      for index = 1, #wanted - limit + 1 do
        replaced[index] = wanted[index]
        redis.call('SADD', cancels, wanted[index])
        redis.call('PUBLISH', cancels, wanted[index])
      end
    end

    redis.call('HSET', run, 'phase', 'Pending', 'accepted', now, 'bytes', size, 'timeout', limits[3] or '',
      unpack(ARGV, 5))
    if dk then
      redis.call('HSET', dk, 'run', run_id, 'body', body_hash)
    end
    local entry = wf .. ' ' .. now .. ' ' .. run_id
    redis.call('ZADD', live, 0, entry)
    if over then
      redis.call('ZADD', held, 0, entry)
    else
      enqueue(wf, entry)
    end
    redis.call('HINCRBY', meta, 'bytes', size)
    redis.call('HINCRBY', counts, wf .. ':accepted', 1)
    redis.call('HSET', counts, wf .. ':last', now)
    return {'accepted', unpack(replaced)}
  `,
});

/**
 * Stores an event as a run. The same dedupe key gives the same run, and with another body `conflict`. A run that was
 * named by the caller is its own dedupe key. `unavailable` does not say that nothing was stored, only that it is not known.
 */
export function submit(conn: RunStoreConnection, submission: Submission): Promise<Submitted> {
  return orUnavailable(() => store(conn, submission));
}

async function store(conn: RunStoreConnection, submission: Submission): Promise<Submitted> {
  const { project, workflow, workflowUid } = submission;
  const keys = keysOf(project);
  const key = submission.dedupeKey ?? nameAsKey(submission);
  const hash = key === undefined ? undefined : dedupeHash(workflowUid, key);
  const run = submission.run ?? (hash === undefined ? newRunName(workflow) : keyedRunName(workflow, hash));
  const answer = (await conn.script(
    SUBMIT,
    submitKeys(keys, run, hash === undefined ? undefined : keys.dk(workflowUid, hash)),
    [workflowUid, run, submission.bodyHash, sizeOf(submission), ...fieldsOf(submission, hash)],
  )) as string[];
  const [outcome, detail = '', reply = ''] = answer;
  if (outcome === 'accepted') return accepted(conn, submission, run, answer.slice(1));
  if (outcome === 'duplicate') return duplicate(conn, keys, detail, reply);
  if (outcome === 'conflict') return { outcome, run: detail };
  if (outcome === 'rejected') return { outcome, limit: Number(detail) };
  if (outcome === 'full') return { outcome: 'unavailable', why: 'full', retryAfterSeconds: 10 };
  // The name is taken: a new one where it was our choice, otherwise it stands for something else.
  return key === undefined ? store(conn, submission) : { outcome: 'conflict', run };
}

/** An object, and a name that the caller chose, are submitted again and again until they are seen to run: once only. */
function nameAsKey({ run, recordUid }: Submission): string | undefined {
  return recordUid === undefined ? run && `run/${run}` : `object/${recordUid}`;
}

function submitKeys(keys: ProjectKeys, run: string, dk: string | undefined): string[] {
  const { meta, q, vt, held, active, cfg, live, counts, cancels } = keys;
  const all = [meta, q, vt, held, active, cfg, live, counts, cancels, keys.run(run)];
  if (dk !== undefined) all.push(dk);
  return all;
}

function sizeOf({ input, dedupeKey = '' }: Submission): number {
  return RUN_OVERHEAD_BYTES + Buffer.byteLength(input) + Buffer.byteLength(dedupeKey);
}

/** The fields of the run's hash, as `runs/read.ts` reads them. */
function fieldsOf(submission: Submission, hash: string | undefined): string[] {
  const fields = [
    ...['wf', submission.workflowUid, 'workflow', submission.workflow, 'revision', submission.revision],
    ...['trigger', submission.trigger, 'input', submission.input],
  ];
  if (submission.test) fields.push('test', '1');
  if (hash !== undefined) fields.push('dedupe', hash);
  if (submission.dedupeKey !== undefined) fields.push('key', submission.dedupeKey);
  if (submission.retryOf !== undefined) fields.push('retryOf', submission.retryOf);
  if (submission.recordUid !== undefined) fields.push('object', submission.recordUid);
  return fields;
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

/** The reply is with the run until it is recorded, and with the dedupe key afterwards. */
async function duplicate(
  conn: RunStoreConnection,
  keys: ProjectKeys,
  run: string,
  kept: string,
): Promise<Submitted> {
  const reply = kept === '' ? await conn.command('hget', keys.run(run), 'reply') : kept;
  if (isUnavailable(reply) || typeof reply !== 'string') return { outcome: 'accepted', run, duplicate: true };
  return { outcome: 'accepted', run, duplicate: true, reply: JSON.parse(reply) as Reply };
}
