/** Accepts events: `submit` stores each once per dedupe key. Only then the caller may answer 2xx. */
import { isTerminal } from '../api/phase.ts';
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { keysOf, type ProjectKeys } from '../store/keys.ts';
import { NOW } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { cancelRun } from './cancel.ts';
import {
  ADD_CHILD,
  isChildOutcome,
  LIMIT_DESCENDANTS,
  REQUIRE_PARENT,
  type ChildOutcome,
} from './children.ts';
import { ENQUEUE } from './lua.ts';
import { dedupeHash, newRunName } from './names.ts';
import type { RunHead } from './read.ts';
import { DEDUPE_KEY_BYTES, EXPIRING, RUN_OVERHEAD_BYTES } from './room.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { ParentRef, Reply, Resumed, Submission, Submitted } from './types.ts';

/** `count_key()`: counts one more dedupe key, and says whether the project may store it. */
const COUNT_KEY = defineFragment({
  needs: ['meta', 'expiring', 'now'],
  gives: ['count_key'],
  lua: `
local function count_key()
  ${EXPIRING}
  subtract_expired(redis.call('HGET', meta, 'settled'))
  local bytes, quota = unpack(redis.call('HMGET', meta, 'keys', 'keyQuota'))
  bytes = tonumber(bytes or 0) + ${DEDUPE_KEY_BYTES}
  return bytes, not quota or bytes <= tonumber(quota)
end
`,
});

/**
 * `replace_oldest(victims)`: at the limit, the oldest runs of the group make room. They are requested to end,
 * durably, and added to `victims`; the run that replaces each is stored. Runs that wait without a slot count
 * too, because a newer run replaces them all the same.
 */
const REPLACE = defineFragment({
  needs: ['replaceable', 'cancels', 'replaced', 'group', 'run_id', 'limit', 'entry'],
  gives: ['replace_oldest'],
  lua: `
local function replace_oldest(victims)
  local others = {}
  for _, other in ipairs(redis.call('ZRANGEBYLEX', replaceable, '[' .. group .. ' ', '(' .. group .. '!')) do
    local name = string.match(other, '[^ ]+$')
    if redis.call('SISMEMBER', cancels, name) == 0 then others[#others + 1] = name end
  end
  for index = 1, #others - limit + 1 do
    victims[#victims + 1] = others[index]
    redis.call('HSET', replaced, others[index], run_id)
    redis.call('SADD', cancels, others[index])
    redis.call('PUBLISH', cancels, others[index])
  end
  redis.call('ZADD', replaceable, 0, entry)
end
`,
});

const SUBMIT = defineScript({
  transitions: ['none > ready', 'none > overLimit'],
  keys: [
    'meta',
    'ready',
    'overLimit',
    'replaceable',
    'cancels',
    'replaced',
    'wf',
    'runs',
    'run',
    'items',
    'expiring',
    'claims',
    'siblings',
    'descendants',
    // Left out where the event has no dedupe key.
    'dedupe',
  ],
  args: [
    'group',
    'run_id',
    'body_hash',
    'size',
    'head',
    'input',
    // Of a child run: its parent, the token of the claim of the parent, and 1 where the parent waits for it.
    'parent_run',
    'parent_token',
    'parent_waits',
    // 1 where effects of the run may have happened: its parent, or the run that it resumes, is in doubt.
    'in_doubt',
  ],
  // What a run keeps of the run that it resumes.
  lists: { nodes: { args: ['field', 'value'] }, item_nodes: { args: ['field', 'value'] } },
  answers: {
    accepted: 'and the runs that this one replaces',
    duplicate: 'the run of the same event, its reply or an empty text, and its phase once it is recorded',
    conflict: 'the run with the same dedupe key, but another body',
    taken: 'there is a run of this name',
    full: 'no room for the run, or with `keys` none for its dedupe key',
    suspended: 'the workflow is suspended',
    rejected: 'the limit that the policy `Reject` enforces',
    fenced: 'the claim of the parent is another one',
    stopped: 'the parent shall be cancelled',
    'too-many': 'the root has as many descendants as it may have',
  },
  body: `
    local store_id, bytes, quota, virtual, vars = unpack(redis.call('HMGET', meta, 'id', 'bytes', 'quota', 'v', 'vars'))
    if not store_id then return redis.error_reply('NOLOG the run store is empty') end
    ${REQUIRE_PARENT}
    if dedupe then
      local known, known_hash, reply, phase = unpack(redis.call('HMGET', dedupe, 'run', 'body', 'reply', 'phase'))
      -- The body of a key that was restored from a record may be unknown.
      if known and known_hash ~= '' and known_hash ~= body_hash then return {'conflict', known} end
      if known then return {'duplicate', known, reply or '', phase or ''} end
    end
    if redis.call('EXISTS', run) == 1 then return {'taken'} end
    ${LIMIT_DESCENDANTS}
    bytes = tonumber(bytes or 0) + size
    if quota and bytes > tonumber(quota) then return {'full'} end
    ${NOW}
    local key_bytes
    if dedupe then
      ${COUNT_KEY}
      local has_room
      key_bytes, has_room = count_key()
      -- No key expires early, so that without room for another one no event with a key is accepted.
      if not has_room then return {'full', 'keys'} end
    end

    local limit_text, policy, timeout, active, own, total, suspended = unpack(
      redis.call('HMGET', wf, 'limit', 'policy', 'timeout', 'active', 'vt', 'accepted', 'suspended'))
    if suspended == '1' then return {'suspended'} end
    local limit = tonumber(limit_text or 'inf')
    active = tonumber(active or 0)
    local is_over = active >= limit
    if is_over and policy == 'Reject' then return {'rejected', limit_text} end

    local accepted = time[1] .. string.format('%06d', time[2])
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    redis.call('ZADD', runs, accepted, run_id)
    if is_over then
      redis.call('ZADD', overLimit, 0, entry)
    else
      ${ENQUEUE}
      own = enqueue(entry, virtual, own)
      active = active + 1
    end
    local answer = {'accepted'}
    if policy == 'Replace' then
      ${REPLACE}
      replace_oldest(answer)
    end
    redis.call('HSET', run, 'phase', 'Pending', 'wf', group, 'accepted', accepted, 'bytes', size,
      'timeout', timeout or '', 'head', head, 'input', input)
    if vars then redis.call('HSET', run, 'vars', vars) end
    if in_doubt == '1' then redis.call('HSET', run, 'doubt', 1) end
    ${ADD_CHILD}
    for _, field, value in nodes() do redis.call('HSET', run, field, value) end
    for _, field, value in item_nodes() do redis.call('HSET', items, field, value) end
    if dedupe then
      redis.call('HSET', dedupe, 'run', run_id, 'body', body_hash)
      redis.call('HSET', meta, 'bytes', bytes, 'keys', key_bytes)
    else
      redis.call('HSET', meta, 'bytes', bytes)
    end
    redis.call('HSET', wf, 'active', active, 'vt', own or 0, 'accepted', tonumber(total or 0) + 1, 'last', accepted)
    return answer
  `,
});

/**
 * Stores an event as a run, unless its workflow is suspended. The same dedupe key gives the same run, and
 * with another body `conflict`. The name of a run that the caller chose is its dedupe key. `unavailable`: the
 * event may be stored or not.
 */
export function submit(conn: RunStoreConnection, submission: Omit<Submission, 'parent'>): Promise<Submitted> {
  return orUnavailable(async () => {
    const submitted = await store(conn, submission);
    if (isChildOutcome(submitted)) throw new Error('a run without a parent was refused as a child');
    return submitted;
  });
}

/**
 * Stores a child run for the runner that holds its parent. The name of the child is its dedupe key. A child
 * of a parent in doubt may have been executed before: effects of it that must not be repeated must not begin.
 * Everything else is as for `submit`.
 */
export function submitChild(
  conn: RunStoreConnection,
  submission: Submission & { run: string; parent: ParentRef },
  holder: { token: string; isInDoubt: boolean },
): Promise<Submitted | ChildOutcome> {
  return orUnavailable(() => store(conn, submission, holder));
}

async function store(
  conn: RunStoreConnection,
  submission: Submission,
  holder = { token: '', isInDoubt: false },
): Promise<Submitted | ChildOutcome> {
  const { project, workflow, workflowUid } = submission;
  const keys = keysOf(project);
  const key = keyOf(submission);
  const hash = key === undefined ? undefined : dedupeHash(workflowUid, key);
  // Never derived from the key: when the key has expired, the object of its run may still exist.
  const run = submission.run ?? newRunName(workflow);
  const args = argumentsOf(SUBMIT, {
    group: groupOf(submission),
    run_id: run,
    body_hash: submission.bodyHash,
    size: sizeOf(submission),
    head: headOf(submission, hash),
    input: submission.input,
    ...parentArgs(submission.parent, holder.token),
    in_doubt: isInDoubt(submission, holder) ? '1' : '',
    ...keptRows(submission.resumed),
  });
  const answer = (await conn.script(SUBMIT, submitKeys(keys, submission, run, hash), args)) as string[];
  const [outcome, detail = '', reply = '', phase = ''] = answer;
  if (outcome === 'accepted') return accepted(conn, submission, run, answer.slice(1));
  if (outcome === 'duplicate') {
    const kept = hash === undefined ? [] : [keys.reply(workflowUid, hash)];
    return duplicate(conn, keys.run(detail), kept, { run: detail, reply, phase });
  }
  const refused = refusalOf(outcome ?? '', detail);
  if (refused) return refused;
  // The name exists. We choose another one; a name that the caller chose is a conflict.
  return submission.run === undefined ? store(conn, submission) : { outcome: 'conflict', run };
}

function refusalOf(outcome: string, detail: string): Submitted | ChildOutcome | undefined {
  switch (outcome) {
    case 'fenced':
    case 'stopped':
    case 'too-many':
    case 'suspended':
      return { outcome };
    case 'conflict':
      return { outcome, run: detail };
    case 'rejected':
      return { outcome, limit: Number(detail) };
    case 'full':
      return { outcome: 'unavailable', why: 'full', retryAfterSeconds: detail === 'keys' ? 60 : 10 };
    default:
      return undefined;
  }
}

/** Whether effects of the run may have happened before. */
function isInDoubt({ resumed }: Submission, holder: { isInDoubt: boolean }): boolean {
  return holder.isInDoubt || resumed?.isInDoubt === true;
}

function parentArgs(parent: ParentRef | undefined, token: string) {
  return {
    parent_run: parent?.run ?? '',
    parent_token: token,
    parent_waits: parent?.waits ? '1' : '',
  };
}

/** The dedupe key. The prefix separates keys of callers from those of triggers, objects and names. */
function keyOf(submission: Submission): string | undefined {
  const { dedupeKey, trigger } = submission;
  if (dedupeKey === undefined) return nameAsKey(submission);
  return trigger === 'webhook' || trigger === 'execute' ? `caller/${dedupeKey}` : dedupeKey;
}

/**
 * An object, and a name that the caller chose, are submitted until they are seen to run: they are one run.
 */
function nameAsKey({ run, recordUid }: Submission): string | undefined {
  return recordUid === undefined ? run && `run/${run}` : `object/${recordUid}`;
}

function submitKeys(
  keys: ProjectKeys,
  submission: Submission,
  run: string,
  hash: string | undefined,
): string[] {
  const { project, parent } = submission;
  const declared = scriptKeys(SUBMIT, { project, run, group: groupOf(submission), parent });
  return [
    ...declared.slice(0, -1),
    ...(hash === undefined ? [] : [keys.dedupe(submission.workflowUid, hash)]),
  ];
}

type Row = readonly [field: string, value: string];

/** The fields of a resumed run: of its nodes, and of items of its loops. */
function keptRows(resumed?: Resumed): { nodes: Row[]; item_nodes: Row[] } {
  return {
    nodes: (resumed?.nodes ?? []).map((node) => [`n:${node.id}`, JSON.stringify(node)]),
    item_nodes: [...(resumed?.items ?? [])].map(([key, node]) => [key, JSON.stringify(node)]),
  };
}

function sizeOf({ input, dedupeKey = '', requestedBy = '', testing, resumed }: Submission): number {
  const { nodes, item_nodes } = keptRows(resumed);
  const tested = testing ? JSON.stringify(testing) : '';
  const texts = [input, dedupeKey, requestedBy, tested, ...nodes.flat(), ...item_nodes.flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), RUN_OVERHEAD_BYTES);
}

/** The immutable part of a run in one field: as JSON, which no script reads. */
function headOf(submission: Submission, dedupeHash: string | undefined): string {
  const { workflow, revision, trigger, test, dedupeKey, retryOf, until, testing } = submission;
  const { requestedBy, recordUid, parent } = submission;
  const { origin, decisions = [] } = submission.resumed ?? {};
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
    origin,
    ...(decisions.length > 0 && { decisions }),
    until,
    testing,
    requestedBy,
    recordUid,
    parent,
  };
  return JSON.stringify(head);
}

/** Replaced runs that no runner holds end now; `submit` has requested the end of the others. */
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
 * The reply is a field of the run until that is recorded, and has a key of its own for an hour afterwards.
 * Without a reply, the dedupe key has the phase.
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
