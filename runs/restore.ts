/**
 * Restores an unfinished run from its record into a store that does not have it. Only the operator does,
 * beyond every quota, while the project is being seeded, or for a run of an earlier store.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, type Seeding } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { ENQUEUE, STORE_FIELDS } from './lua.ts';
import type { RunHead } from './read.ts';
import { DEDUPE_KEY_BYTES, RUN_OVERHEAD_BYTES } from './room.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { Superseded } from './seed.ts';
import type { NodeState } from './types/node.ts';
import type { Reply } from './types/result.ts';
import type { RunUsage } from './types/run.ts';
import type { DedupeMark } from './types/submission.ts';

/** A run as its record has it. Times are milliseconds since 1970. */
export type RecordedRun = Omit<RunHead, 'dedupeHash' | 'bodyHash'> & {
  run: string;
  workflowUid: string;
  /** The uid of its record. */
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
  /** The deadline, if its time had begun to pass. */
  deadlineAt?: number;
  nodes: NodeState[];
  reply?: Reply;
  /** If the run only waited when it was recorded: the time before which nothing of it can have begun. */
  idleUntil?: number;
  /** What its agents used. `cost`: nano-units. */
  usage?: RunUsage;
  /** The recorded run was in doubt itself: an earlier loss took progress that no record has. */
  isInDoubt?: true;
};

/**
 * Ends the script where the store may not restore the run: another seeding has begun, this store has dropped
 * the run after it had recorded its end, or the event was sent again to a store that did not know its key,
 * and is another run now.
 */
const REFUSE_KNOWN = defineFragment({
  needs: [
    'token',
    'recorded_by',
    'epoch',
    'run_id',
    'store_id',
    'opened',
    'seeding',
    'run',
    'summaries',
    'known',
    'known_phase',
  ],
  lua: `
if store_id then
  if token ~= '' then return 'superseded' end
  if recorded_by == store_id and redis.call('EXISTS', run) == 0 then return 'dropped' end
  if tonumber(epoch) >= tonumber(opened or 0) then return 'dropped' end
elseif token == '' then
  return redis.error_reply('NOLOG the run store is empty')
elseif seeding ~= token then
  return 'superseded'
end
if redis.call('EXISTS', run) == 1 then return 'exists' end
if redis.call('HEXISTS', summaries, run_id) == 1 then return 'dropped' end
if known and known ~= run_id and not known_phase then return 'dropped' end
`,
});

/** Stores the fields of the run. Until it is claimed again no time of a run passes that is not ready. */
const STORE_RESTORED = defineFragment({
  needs: [
    'run',
    'group',
    'accepted',
    'size',
    'head',
    'input',
    'epoch',
    'sequence',
    'timeout',
    'started',
    'deadline',
    'object',
    'reply',
    'nodes_first',
    'store_fields',
    'is_over',
    'is_idle',
    'in_doubt',
    'now',
  ],
  lua: `
redis.call('HSET', run, 'phase', is_idle and 'Waiting' or 'Pending', 'wf', group, 'accepted', accepted, 'bytes', size, 'timeout', timeout,
  'head', head, 'input', input, 'epoch', math.max(tonumber(epoch), now), 'sequence', sequence,
  'recorded', object, 'restored', epoch)
store_fields(ARGV, nodes_first)
if not is_idle or in_doubt == '1' then redis.call('HSET', run, 'doubt', 1) end
if started ~= '' then redis.call('HSET', run, 'started', started) end
if deadline ~= '' and (is_over or is_idle) then
  redis.call('HSET', run, 'timeout', math.max(0, deadline - now))
elseif deadline ~= '' then
  redis.call('HSET', run, 'deadline', deadline)
end
if reply ~= '' then redis.call('HSET', run, 'reply', reply) end
`,
});

const RESTORE = defineScript({
  flags: 'drains',
  transitions: ['none > ready', 'none > overLimit', 'none > parked'],
  // `dedupe` is left out where the record has no dedupe mark.
  keys: [
    'meta',
    'ready',
    'overLimit',
    'parked',
    'replaceable',
    'unfinished',
    'wf',
    'runs',
    'summaries',
    'run',
    'siblings',
    'dedupe',
  ],
  args: [
    // Of the seeding; empty where the project is open.
    'token',
    'group',
    'run_id',
    'accepted',
    'size',
    'head',
    'input',
    'body_hash',
    'epoch',
    'sequence',
    'timeout',
    'started',
    'deadline',
    // The uid of the record.
    'object',
    'reply',
    // The id of the store that made the record.
    'recorded_by',
    'idle_until',
    // 1: the recorded run was in doubt, which its wait does not end.
    'in_doubt',
    // The parent of a child run that it waits for.
    'parent_run',
  ],
  lists: { nodes: { args: ['field', 'value'] } },
  answers: {
    restored: 'the run is ready, over the limit, or parked where it only waited',
    exists: 'the store has the run',
    dropped: 'the store had the run, or its event is another run',
    superseded: 'another seeding has begun, or the project is open',
  },
  body: `
    local store_id, seeding, opened, virtual, bytes, vars = unpack(
      redis.call('HMGET', meta, 'id', 'seeding', 'opened', 'v', 'bytes', 'vars'))
    local known, known_phase
    if dedupe then known, known_phase = unpack(redis.call('HMGET', dedupe, 'run', 'phase')) end
    ${REFUSE_KNOWN}

    ${NOW}
    local limit, policy, active, own, total = unpack(redis.call('HMGET', wf, 'limit', 'policy', 'active', 'vt', 'accepted'))
    active = tonumber(active or 0)
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    local is_idle = idle_until ~= '' and tonumber(idle_until) > now
    local is_over = active >= tonumber(limit or 'inf')
    if is_idle then
      redis.call('ZADD', parked, idle_until, entry)
    elseif is_over then
      redis.call('ZADD', overLimit, 0, entry)
    else
      ${ENQUEUE}
      own = enqueue(entry, virtual, own)
      active = active + 1
    end
    if policy == 'Replace' then redis.call('ZADD', replaceable, 0, entry) end
    ${STORE_FIELDS}
    ${STORE_RESTORED}
    -- The record does not hold the variables at acceptance, so that the run gets the current ones.
    if vars then redis.call('HSET', run, 'vars', vars) end
    if parent_run ~= '' then
      redis.call('HSET', run, 'parent', parent_run)
      redis.call('SADD', siblings, run_id)
    end
    redis.call('ZADD', runs, accepted, run_id)
    if recorded_by ~= '' then redis.call('ZADD', unfinished, 0, group .. ' ' .. run_id) end
    if dedupe and (known ~= run_id or known_phase) then
      -- It does not expire any more; a recorded run that had it before leaves it to this one.
      redis.call('UNLINK', dedupe)
      redis.call('HSET', dedupe, 'run', run_id, 'body', body_hash)
      redis.call('HINCRBY', meta, 'keys', ${DEDUPE_KEY_BYTES})
    end
    redis.call('HSET', meta, 'bytes', tonumber(bytes or 0) + size)
    redis.call('HSET', wf, 'active', active, 'vt', own or 0, 'accepted', tonumber(total or 0) + 1)
    return 'restored'
  `,
});

/**
 * - `restored`: the run is ready, over the limit, or parked where it only waited.
 * - `exists`: the store has the run.
 * - `dropped`: this store had the run and dropped it, after its end was recorded or summarized; or its event
 *   is another run now, which is unfinished or unrecorded.
 */
export type Restored = { outcome: 'restored' | 'exists' | 'dropped' } | Superseded | Unavailable;

/**
 * Restores a recorded run: into the project that is being seeded, or without a `seeding` into an open one.
 */
export function restoreRun(
  conn: RunStoreConnection,
  project: ProjectUid,
  recorded: RecordedRun,
  seeding?: Seeding,
): Promise<Restored> {
  const { run, dedupe } = recorded;
  const group = groupOf(recorded);
  const keys = keysOf(project);
  const declared = scriptKeys(RESTORE, { project, run, group, parent: recorded.parent }).slice(0, -1);
  if (dedupe) declared.push(keys.dedupe(recorded.workflowUid, dedupe.hash));
  return orUnavailable(async () => {
    const outcome = await conn.script(RESTORE, declared, argsOf(recorded, seeding?.token ?? ''));
    return { outcome: outcome as 'restored' | 'exists' | 'dropped' | 'superseded' };
  });
}

function argsOf(recorded: RecordedRun, token: string): (string | number)[] {
  const { run, acceptedAt, input, dedupe, startedAt, deadlineAt, reply } = recorded;
  const nodes = recorded.nodes.flatMap(nodeFields);
  const replyText = reply ? JSON.stringify(reply) : '';
  const texts = [input, replyText, ...nodes.flat()];
  return argumentsOf(RESTORE, {
    token,
    group: groupOf(recorded),
    run_id: run,
    accepted: `${acceptedAt}000`,
    size: texts.reduce((sum, text) => sum + Buffer.byteLength(text), RUN_OVERHEAD_BYTES),
    head: headOf(recorded),
    input,
    body_hash: dedupe?.body ?? '',
    epoch: recorded.epoch,
    sequence: recorded.sequence,
    timeout: recorded.timeoutMs,
    started: startedAt ?? '',
    deadline: deadlineAt ?? '',
    object: recorded.uid,
    reply: replyText,
    recorded_by: recorded.recordedBy ?? '',
    idle_until: recorded.idleUntil ?? '',
    in_doubt: recorded.isInDoubt ? '1' : '',
    parent_run: recorded.parent?.waits ? recorded.parent.run : '',
    nodes: [...nodes, ...usageFields(recorded)],
  });
}

/** What the run was charged, so that its budget holds beyond the loss. */
function usageFields({ usage }: RecordedRun): [field: string, value: string][] {
  return Object.entries(usage ?? {}).map(([name, value]) => [name, String(value)]);
}

/** The fields of a node, and its wait. */
function nodeFields({ nextAttemptAt, ...node }: NodeState): [field: string, value: string][] {
  const state: [string, string] = [`n:${node.id}`, JSON.stringify(node)];
  return nextAttemptAt === undefined ? [state] : [state, [`w:${node.id}`, String(nextAttemptAt)]];
}

function headOf(recorded: RecordedRun): string {
  const {
    workflow,
    revision,
    trigger,
    test,
    dedupeKey,
    retryOf,
    until,
    testing,
    requestedBy,
    recordUid,
    dedupe,
    parent,
  } = recorded;
  const { origin, decisions } = recorded;
  const hashes = { dedupeHash: dedupe?.hash, bodyHash: dedupe?.body };
  const head: RunHead = {
    workflow,
    revision,
    trigger,
    test,
    dedupeKey,
    ...hashes,
    retryOf,
    origin,
    decisions,
    until,
    testing,
    requestedBy,
    recordUid,
    parent,
  };
  return JSON.stringify(head);
}
