/**
 * `restore`: the way back from the record of a run that had not ended into a store that does not know it. Create-if-absent, for
 * the operator alone, past every quota; only while the project is seeded, or for a run of an earlier store.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { ENQUEUE } from './lua.ts';
import type { RunHead } from './read.ts';
import { DEDUPE_KEY_BYTES, RUN_OVERHEAD_BYTES } from './room.ts';
import { defineScript } from '../store/script.ts';
import type { Superseded } from './seed.ts';
import type { DedupeMark, NodeState, Reply } from './types.ts';
import { NOW, type Seeding } from '../store/lua.ts';

/** A run as its record tells it. Times are milliseconds since 1970. */
export type RecordedRun = Omit<RunHead, 'dedupeHash' | 'bodyHash'> & {
  run: string;
  workflowUid: string;
  /** Of the object that it is recorded in. */
  uid: string;
  dedupe?: DedupeMark | undefined;
  input: string;
  /** The id of the run store that made the record; left out of objects that somebody else created. */
  recordedBy?: string;
  epoch: number;
  sequence: number;
  acceptedAt: number;
  startedAt?: number;
  timeoutMs: number;
  /** When its time is over, where that began already. */
  deadlineAt?: number;
  nodes: NodeState[];
  reply?: Reply;
  /** Of a run that only waited when it was recorded: the time until which nothing of it can have begun. */
  idleUntil?: number;
};

const ARGS =
  'token group run_id accepted size head input body_hash epoch sequence timeout started deadline object reply recorded_by idle_until';

/** Fields and values of the nodes follow the named arguments. */
const RESTORE = defineScript({
  flags: 'drains',
  keys: ['meta', 'q', 'held', 'live', 'wf', 'runs', 'lines', 'run', 'dk'],
  args: ARGS.split(' '),
  body: `
    local project = redis.call('HMGET', meta, 'id', 'seeding', 'opened', 'v', 'bytes')
    if project[1] then
      if token ~= '' then return 'superseded' end
      if recorded_by == project[1] and redis.call('EXISTS', run) == 0 then return 'dropped' end
      if tonumber(epoch) >= tonumber(project[3] or 0) then return 'dropped' end
    elseif token == '' then
      return redis.error_reply('NOLOG the run store is empty')
    elseif project[2] ~= token then
      return 'superseded'
    end
    if redis.call('EXISTS', run) == 1 then return 'exists' end
    if redis.call('HEXISTS', lines, run_id) == 1 then return 'dropped' end
    local known = dk and redis.call('HMGET', dk, 'run', 'phase') or {}
    -- One event is one run: it was sent again to a store that did not know its key.
    if known[1] and known[1] ~= run_id and not known[2] then return 'dropped' end

    ${NOW}
    local limits = redis.call('HMGET', wf, 'limit', 'policy', 'active', 'vt', 'accepted')
    local active, own = tonumber(limits[3] or 0), limits[4]
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    local over = active >= tonumber(limits[1] or 'inf')
    if over then
      redis.call('ZADD', held, 0, entry)
    else
      ${ENQUEUE}
      own = enqueue(entry, project[4], own)
      active = active + 1
    end
    if limits[2] == 'Replace' then
      redis.call('ZADD', live, 0, entry)
    end
    redis.call('HSET', run, 'phase', 'Pending', 'wf', group, 'accepted', accepted, 'bytes', size, 'timeout', timeout,
      'head', head, 'input', input, 'epoch', math.max(tonumber(epoch), now), 'sequence', sequence,
      'recorded', object, 'restored', epoch, unpack(ARGV, 18))
    if idle_until == '' or tonumber(idle_until) <= now then redis.call('HSET', run, 'doubt', 1) end
    redis.call('ZADD', runs, accepted, run_id)
    if started ~= '' then redis.call('HSET', run, 'started', started) end
    if deadline ~= '' and over then
      -- Until it is claimed again no time of it passes.
      redis.call('HSET', run, 'timeout', math.max(0, deadline - now))
    elseif deadline ~= '' then
      redis.call('HSET', run, 'deadline', deadline)
    end
    if reply ~= '' then redis.call('HSET', run, 'reply', reply) end
    if dk and (known[1] ~= run_id or known[2]) then
      -- It does not expire any more; a recorded run that had it before leaves it to this one.
      redis.call('UNLINK', dk)
      redis.call('HSET', dk, 'run', run_id, 'body', body_hash)
      redis.call('HINCRBY', meta, 'keys', ${DEDUPE_KEY_BYTES})
    end
    redis.call('HSET', meta, 'bytes', tonumber(project[5] or 0) + size)
    redis.call('HSET', wf, 'active', active, 'vt', own or 0, 'accepted', tonumber(limits[5] or 0) + 1)
    return 'restored'
  `,
});

/**
 * - `restored`: it is ready, or held.
 * - `exists`: the store knows it.
 * - `dropped`: this very store held it and dropped it, after its end was recorded or summarised; it was not lost. Or its event is another
 *   run by now, which has not ended or is not recorded yet.
 */
export type Restored = { outcome: 'restored' | 'exists' | 'dropped' } | Superseded | Unavailable;

/** Puts a recorded run back: into the project that is being seeded, or without a `seeding` into one that is open. */
export function restoreRun(
  conn: RunStoreConnection,
  project: ProjectUid,
  recorded: RecordedRun,
  seeding?: Seeding,
): Promise<Restored> {
  const { meta, q, held, live, wf, runs, lines, run, dk } = keysOf(project);
  const { workflowUid, dedupe } = recorded;
  const ofGroup = [wf, runs, lines].map((key) => key(groupOf(recorded)));
  const keys = [meta, q, held, live, ...ofGroup, run(recorded.run)];
  if (dedupe) keys.push(dk(workflowUid, dedupe.hash));
  return orUnavailable(async () => {
    const outcome = await conn.script(RESTORE, keys, argsOf(recorded, seeding?.token ?? ''));
    return { outcome: outcome as 'restored' | 'exists' | 'dropped' | 'superseded' };
  });
}

function argsOf(recorded: RecordedRun, token: string): (string | number)[] {
  const { run, acceptedAt, input, dedupe, startedAt, deadlineAt, reply } = recorded;
  const nodes = recorded.nodes.flatMap(nodeArgs);
  const replyText = reply ? JSON.stringify(reply) : '';
  const head = headOf(recorded);
  const size = [input, replyText, ...nodes].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    RUN_OVERHEAD_BYTES,
  );
  return [
    token,
    groupOf(recorded),
    run,
    `${acceptedAt}000`,
    size,
    head,
    input,
    dedupe?.body ?? '',
    recorded.epoch,
    recorded.sequence,
    recorded.timeoutMs,
    startedAt ?? '',
    deadlineAt ?? '',
    recorded.uid,
    replyText,
    recorded.recordedBy ?? '',
    recorded.idleUntil ?? '',
    ...nodes,
  ];
}

function nodeArgs({ nextAttemptAt, ...node }: NodeState): string[] {
  const wait = nextAttemptAt === undefined ? [] : [`w:${node.id}`, String(nextAttemptAt)];
  return [`n:${node.id}`, JSON.stringify(node), ...wait];
}

function headOf(recorded: RecordedRun): string {
  const { workflow, revision, trigger, test, dedupeKey, retryOf, until, requestedBy, recordUid, dedupe } =
    recorded;
  const hashes = { dedupeHash: dedupe?.hash, bodyHash: dedupe?.body };
  const head: RunHead = {
    workflow,
    revision,
    trigger,
    test,
    dedupeKey,
    ...hashes,
    retryOf,
    until,
    requestedBy,
    recordUid,
  };
  return JSON.stringify(head);
}
