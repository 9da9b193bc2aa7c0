/**
 * Advances a run: checkpoints, the reply, start marks before effects, the end. Each call is one script: it is
 * stored as a whole or not at all, and only for the runner that holds the run.
 */
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { NOW } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import {
  END,
  END_ARGS,
  END_TRANSITIONS,
  endArgs,
  eventText,
  plainEndArgs,
  OTHER_END_KEYS,
  PLAIN_END_KEYS,
  shortened,
} from './end.ts';
import {
  COALESCE_MS,
  ENQUEUE,
  EVENTS,
  FENCE,
  MISSING_RUN,
  PARKED_EVENT_BYTES,
  STORE_FIELDS,
  UNPACK_LIMIT,
} from './lua.ts';
import { END_MEMORIES, MEMORY_END_ROW, memoryEndRows } from './memory.ts';
import { HAS_MEMORY } from './memoryLocks.ts';
import { PARK_RUN, RELEASE_RUN } from './park.ts';
import { LEARN_GROWTH, RUN_LIMIT_BYTES, RUN_OVERHEAD_BYTES } from './room.ts';
import { requiredKeys, scriptKeys } from './scriptKeys.ts';
import { IS_SEEN, REFUSE_SEEN, REMEMBER, REMEMBER_ROW, rememberedRow, seenKey } from './seen.ts';
import type {
  Advance,
  AgentCall,
  AgentMark,
  ClaimRef,
  EventCounts,
  Fenced,
  ItemCounts,
  NodeState,
  Remembered,
  Rewound,
  RunEnd,
  RunEventBody,
  Seen,
  TooLarge,
} from './types.ts';

/** The largest value in the run store: an event, the output of a node, a reply. */
export const VALUE_LIMIT_BYTES = 512 * 1024;
/**
 * The oldest answer with which effects may begin, which is how long a call may take. A process that was
 * suspended may read an older one before its timers notice, when another runner may hold the run. Far below
 * the time of a takeover.
 */
const MARK_VALID_MS = 1_500;
/** The end of a step that ends no run. */
const NO_END = { phase: '', reason: '', message: '', end_event: '', result: '' } as const;

/**
 * Stands for the event of a node of the run that has succeeded in its first attempt, as most nodes do: calls
 * are smaller without its text.
 */
const FIRST_SUCCESS = '+';

/** What is left of the consumed signal of an item: a repetition of it is answered like the first one. */
const CONSUMED = '{}';

/**
 * Stores items of loops, their nodes and calls of agents, and drops those of items and agents that have
 * ended, and consumed signals.
 */
const STORE_ITEMS = defineFragment({
  needs: [
    'items',
    'item_nodes',
    'dropped',
    'calls',
    'new_calls',
    'dropped_calls',
    'signals',
    'consumed',
    'now',
  ],
  lua: `
for _, field, value, delay in item_nodes() do
  redis.call('HSET', items, field, value)
  if delay ~= '' then redis.call('HSET', items, 'w:' .. field, now + delay) end
end
for _, field in dropped() do redis.call('HDEL', items, field, 'w:' .. field) end
for _, field, value in new_calls() do redis.call('HSET', calls, field, value) end
for _, field in dropped_calls() do redis.call('HDEL', calls, field) end
for _, field in consumed() do
  if string.find(field, '/', 1, true) then
    redis.call('HSET', signals, field, '${CONSUMED}')
  else
    redis.call('HDEL', signals, field)
  end
end
`,
});

/**
 * `fields`: names and values of what the step stores, for one command. `added`: by how many bytes it makes
 * the run larger.
 */
const STEP_FIELDS = defineFragment({
  needs: [
    'run',
    'items',
    'now',
    'reply',
    'is_first_reply',
    'waits',
    'nodes',
    'item_nodes',
    'dropped',
    'calls',
    'new_calls',
    'dropped_calls',
    'signals',
    'consumed',
  ],
  gives: ['fields', 'added'],
  lua: `
local fields, added = {}, is_first_reply and #reply or 0
for _, node, delay in waits() do
  fields[#fields + 1] = 'w:' .. node
  fields[#fields + 1] = now + delay
end
local names = {}
for _, field, value in nodes() do
  added = added + #value
  names[#names + 1] = field
  fields[#fields + 1] = field
  fields[#fields + 1] = value
end
for at = 1, #names, ${UNPACK_LIMIT} do
  local before = redis.call('HMGET', run, unpack(names, at, math.min(at + ${UNPACK_LIMIT} - 1, #names)))
  for index = 1, #before do if before[index] then added = added - #before[index] end end
end
for _, field, value in item_nodes() do added = added + #value - redis.call('HSTRLEN', items, field) end
for _, field in dropped() do added = added - redis.call('HSTRLEN', items, field) end
for _, field, value in new_calls() do added = added + #value - redis.call('HSTRLEN', calls, field) end
for _, field in dropped_calls() do added = added - redis.call('HSTRLEN', calls, field) end
for _, field in consumed() do
  local left = string.find(field, '/', 1, true) and ${CONSUMED.length} or 0
  added = added + left - redis.call('HSTRLEN', signals, field)
end
if is_first_reply then
  fields[#fields + 1] = 'reply'
  fields[#fields + 1] = reply
end
`,
});

/** Emits the events of nodes of the run and of items. */
const EMIT_NODES = defineFragment({
  needs: ['nodes', 'item_nodes', 'emit'],
  lua: `
for _, field, _, event in nodes() do
  if event == '${FIRST_SUCCESS}' then
    event = '{"type":"node","node":"' .. string.sub(field, 3) .. '","phase":"Succeeded","attempt":1}'
  end
  if event ~= '' then emit(event) end
end
for _, _, _, _, event in item_nodes() do if event ~= '' then emit(event) end end
`,
});

const ADVANCE = defineScript({
  flags: 'drains',
  transitions: [
    'claimed > claimed',
    'claimed > parked',
    'claimed > ended',
    'claimed > none',
    ...END_TRANSITIONS,
  ],
  keys: [...PLAIN_END_KEYS],
  optionalKeys: [...OTHER_END_KEYS, 'runs', 'seenNodes', 'memory', 'memories', 'memoryExpiry'],
  args: [
    'run_id',
    'token',
    // 1: the step has checkpoints or calls of agents; it has some that the limit of the run may refuse.
    'checkpoints',
    'outputs',
    'reply',
    ...END_ARGS,
    // Milliseconds after which a parked run is ready again.
    'park',
    // The version of the signals that the runner has read.
    'read',
    // The sequence that the step follows, and 1 where it has all that the runner knows of the run.
    'follows',
    'whole',
    // 1: the runner itself got the run in doubt, so that a whole step does not end the doubt.
    'in_doubt',
    // Bytes that results of tools in progress may take.
    'reserved',
  ],
  lists: {
    waits: { args: ['node', 'delay'] },
    item_nodes: { args: ['field', 'value', 'delay', 'event'] },
    dropped: { args: ['field'] },
    new_calls: { args: ['field', 'value'] },
    dropped_calls: { args: ['field'] },
    consumed: { args: ['field'] },
    memory_ends: MEMORY_END_ROW,
    nodes: { args: ['field', 'value', 'event'] },
    remembered: REMEMBER_ROW,
  },
  answers: {
    fenced: "the claim is not the caller's",
    'more-keys': 'nothing is stored: the step needs the keys that the caller has left out',
    rewound: 'the store has an older state of the run than the step follows',
    seen: 'another run has seen one of the keys to remember',
    'too-large': 'with its outputs or reply the run would be above its limit',
    '0 to 3': 'stored; with 1 where the run shall be cancelled, and 2 where it has unread signals',
  },
  body: `
    ${FENCE}
    ${NOW}
    local accepted, before, bytes, progress, known_reply, event_count, event_bytes, group, version = unpack(
      redis.call('HMGET', run, 'accepted', 'sequence', 'bytes', 'progress', 'reply', 'evcount', 'evbytes', 'wf', 'signaled'))
    if not items and (not group or park ~= '' or phase == 'Failed') then return 'more-keys' end
    if not group then
      ${MISSING_RUN}
      return fail_missing(run_id)
    end
    before = tonumber(before)
    follows = tonumber(follows) or before
    -- Stored before: the answer was lost, or the network delayed the call until the run had advanced.
    local unread = (version or '') ~= read and 2 or 0
    if before > follows then return redis.call('SISMEMBER', cancels, run_id) + unread end
    -- The store was restored to an older state. Records of what is lost exist, so that the sequence continues
    -- after them.
    if before < follows and whole ~= '1' then return 'rewound' end
    local sequence = follows + 1
    ${EVENTS}
    ${IS_SEEN}
    ${REFUSE_SEEN}
    local is_first_reply = reply ~= '' and not known_reply
    ${STEP_FIELDS}
    bytes = tonumber(bytes) + added
    if (outputs == '1' or is_first_reply) and bytes + tonumber(reserved) > ${RUN_LIMIT_BYTES} then return 'too-large' end
    local grown
    if outputs == '1' or phase ~= '' then
      grown = bytes - redis.call('HSTRLEN', run, 'input') - ${RUN_OVERHEAD_BYTES}
    end
    ${END_MEMORIES}
    ${REMEMBER}
    if whole == '1' then redis.call('HDEL', run, 'restored', 'doubt') end
    if whole == '1' and in_doubt == '1' then redis.call('HSET', run, 'doubt', 1) end
    ${EMIT_NODES}
    ${STORE_ITEMS}

    if phase ~= '' then
      fields[#fields + 1] = 'bytes'
      fields[#fields + 1] = bytes
      ${ENQUEUE}
      ${END}
      end_run(group, true, accepted, sequence, added, grown, fields)
      redis.call('HDEL', claims, run_id)
      return 0
    end
    local is_cancelled = redis.call('SISMEMBER', cancels, run_id)
    if park ~= '' and memoryLocks then
      ${HAS_MEMORY}
      if has_memory(run_id) then unread = 2 end
    end
    local is_parked = park ~= '' and is_cancelled == 0 and unread == 0
    if is_parked then
      ${PARK_RUN}
    end
    ${STORE_FIELDS}
    write_events(is_parked and ${PARKED_EVENT_BYTES} or nil)
    redis.call('ZADD', unrecorded, 'NX', now + ${COALESCE_MS}, run_id)
    redis.call('HSET', run, 'bytes', bytes, 'evcount', event_count, 'evbytes', event_bytes, 'sequence', sequence,
      'progress', checkpoints == '1' and 1 or progress, unpack(fields, 1, math.min(#fields, ${UNPACK_LIMIT})))
    store_fields(fields, ${UNPACK_LIMIT} + 1)
    if added ~= 0 then redis.call('HINCRBY', meta, 'bytes', added) end
    if outputs == '1' then
      ${LEARN_GROWTH}
      local expected = redis.call('HGET', meta, 'growth')
      local learnt = learn_growth(expected, grown, false)
      if learnt ~= tonumber(expected) then redis.call('HSET', meta, 'growth', learnt) end
    end
    if is_parked then
      ${RELEASE_RUN}
    end
    redis.call('PUBLISH', run, is_first_reply and 'reply' or 'event')
    return is_cancelled + unread
  `,
});

/**
 * Stores checkpoints, reply, start marks and end or wait of a run, in one round trip and with one fsync. Of
 * several replies the first is stored. Refuses a value above 512 KiB, and outputs and replies with which the
 * run is above 8 MiB; never start marks, ends, or checkpoints without outputs. Start marks whose answer is
 * read late are `unavailable`: the caller repeats the call to learn whether it still holds the run.
 * `rewound`: the store has an older state of the run than the step follows, and stored nothing; store it
 * again as a `whole` step. `seen`: another run has seen one of the keys to remember; nothing was stored.
 */
export async function advance(
  conn: RunStoreConnection,
  ref: ClaimRef,
  {
    checkpoints = [],
    reply,
    starts = [],
    waits = [],
    dropped = [],
    consumed = [],
    end,
    remember = [],
    parkMs,
    signalsRead = '',
    follows,
    whole,
    isInDoubt,
    agents = [],
    ...ofCalls
  }: Advance,
): Promise<Fenced | TooLarge | Rewound | Seen> {
  const { calls, callArgs } = argsOfCalls(ofCalls);
  const replyText = reply === undefined ? '' : JSON.stringify(reply);
  const stored = storedNodes({ checkpoints, starts, agents });
  if (isTooLarge(replyText) || stored.some(isLarge) || calls.some(isLarge))
    return { outcome: 'too-large', what: 'value', limitBytes: VALUE_LIMIT_BYTES };
  const rows = rowsOf(stored, waits);
  const askedAt = performance.now();
  return orUnavailable(async (): Promise<Fenced | TooLarge | Rewound | Seen> => {
    const args = argumentsOf(ADVANCE, {
      run_id: ref.run,
      token: ref.token,
      reply: replyText,
      park: parkMs === undefined ? '' : Math.ceil(parkMs),
      read: signalsRead,
      follows: follows ?? '',
      whole: whole ? '1' : '',
      in_doubt: isInDoubt ? '1' : '',
      waits: rows.waits,
      item_nodes: rows.itemNodes,
      dropped: dropped.map((key) => [key]),
      consumed: consumed.map((field) => [field]),
      nodes: rows.nodes,
      remembered: remember.map((each) => rememberedRow(ref.run, each)),
      // Last: properties after a spread are defined slowly, one by one.
      ...progressArgs(checkpoints, calls),
      ...argsOfEnd(ref, end),
      ...callArgs,
    });
    const answer = await sendStep(conn, ref, args, { remember, parkMs, end });
    if (answer === 'too-large') return { outcome: 'too-large', what: 'run', limitBytes: RUN_LIMIT_BYTES };
    if (answer === 'fenced' || answer === 'rewound' || answer === 'seen') return { outcome: answer };
    if ((starts.length > 0 || calls.length > 0) && performance.now() - askedAt > MARK_VALID_MS)
      return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };
    const flags = Number(answer);
    return {
      outcome: 'done',
      cancelRequested: flags % 2 === 1,
      ...(flags >= 2 && { signaled: true }),
    };
  });
}

function argsOfEnd({ parent }: ClaimRef, end: RunEnd | undefined) {
  if (!end) return NO_END;
  return parent ? endArgs(end) : plainEndArgs(end);
}

/** Sends the step with few keys where that is likely to be enough. */
async function sendStep(
  conn: RunStoreConnection,
  ref: ClaimRef,
  args: (string | number)[],
  {
    remember,
    parkMs,
    end,
  }: { remember: readonly Remembered[] } & { [K in 'parkMs' | 'end']: Advance[K] | undefined },
): Promise<unknown> {
  if (ref.isPlain && remember.length === 0 && parkMs === undefined && end?.phase !== 'Failed') {
    const answer = await conn.script(ADVANCE, requiredKeys(ADVANCE, ref), args);
    if (answer !== 'more-keys') return answer;
  }
  return conn.script(ADVANCE, keysOfStep(ref, remember), args);
}

function keysOfStep(ref: ClaimRef, remember: readonly Remembered[]): string[] {
  return [...scriptKeys(ADVANCE, ref), ...remember.map(({ node }) => seenKey(ref, node))];
}

function storedNodes({
  checkpoints = [],
  starts = [],
  agents = [],
}: Pick<Advance, 'checkpoints' | 'starts' | 'agents'>): Stored[] {
  const stored = checkpoints.map(checkpointArgs);
  for (const start of starts) stored.push(startArgs(start));
  for (const agent of agents) stored.push(agentArgs(agent));
  return stored;
}

/**
 * Rows of nodes of the run, of nodes in items of loops, and of waits. The waits of items are in their rows.
 */
function rowsOf(stored: readonly Stored[], waiting: NonNullable<Advance['waits']>) {
  const waits: [string, number][] = [];
  const delays = new Map<string, number>();
  for (const { id, delayMs } of waiting)
    if (isItemKey(id)) delays.set(id, Math.ceil(delayMs));
    else waits.push([id, Math.ceil(delayMs)]);
  const nodes: string[][] = [];
  const itemNodes: (string | number)[][] = [];
  for (const { id, value, event } of stored)
    if (isItemKey(id)) itemNodes.push([id, value, delays.get(id) ?? '', event]);
    else nodes.push([`n:${id}`, value, event]);
  return { waits, nodes, itemNodes };
}

/** The arguments about calls and memories of agents. */
function argsOfCalls({
  calls = [],
  droppedCalls = [],
  memories = [],
  reservedBytes = 0,
}: Pick<Advance, 'calls' | 'droppedCalls' | 'memories' | 'reservedBytes'>) {
  const callArgs = {
    reserved: reservedBytes,
    new_calls: calls.map(({ key, value }) => [key, value]),
    dropped_calls: droppedCalls.map((key) => [key]),
    memory_ends: memoryEndRows(memories),
  };
  return { calls, callArgs };
}

/** Whether the step is progress, and whether the limit of the run may refuse it. */
function progressArgs(checkpoints: readonly NodeState[], calls: readonly AgentCall[]) {
  const isRefusable =
    checkpoints.some(({ output }) => output !== undefined) || calls.some(({ isAnswer }) => isAnswer);
  return {
    checkpoints: checkpoints.length > 0 || calls.length > 0 ? '1' : '0',
    outputs: isRefusable ? '1' : '0',
  };
}

/** Whether the key is that of an item of a loop, or of a node of one (`runner/loop.ts`). */
function isItemKey(key: string): boolean {
  return key.includes('/') || key.includes('.');
}

type Stored = { id: string; value: string; event: string };

/** JSON has no member for `undefined`: a copy without these members would take longer for each step. */
const NOT_STORED = {
  mark: undefined,
  nextAttemptAt: undefined,
  isSilent: undefined,
  isProgress: undefined,
};

function checkpointArgs(node: NodeState): Stored {
  const event = node.isSilent ? '' : isFirstSuccess(node) ? FIRST_SUCCESS : eventText(eventOf(node));
  return { id: node.id, value: JSON.stringify(storedNode(node)), event };
}

function isFirstSuccess({ id, phase, attempts, items, reason, message }: NodeState): boolean {
  return phase === 'Succeeded' && attempts === 1 && !(items ?? reason ?? message) && !isItemKey(id);
}

/** Most nodes are stored as they are: a copy takes as long as the text. */
function storedNode(node: NodeState): NodeState {
  const { mark, nextAttemptAt, isSilent, isProgress, outputIsInput } = node;
  const other = mark ?? nextAttemptAt ?? isSilent ?? isProgress ?? (outputIsInput ? node.output : undefined);
  if (other === undefined) return node;
  return { ...node, ...NOT_STORED, ...(outputIsInput && { output: undefined }) };
}

function eventOf(node: NodeState): RunEventBody {
  const id = nodeOfKey(node.id);
  const items = node.items && eventCounts(node.items);
  if (node.isProgress && items) return { type: 'items', node: id, items };
  const { phase, attempts: attempt } = node;
  return { type: 'node', node: id, phase, attempt, ...shortened(node), ...(items && { items }) };
}

function eventCounts({ total, succeeded, failed, running }: ItemCounts): EventCounts {
  return { total, succeeded, failed, running };
}

function startArgs(start: AgentMark): Stored {
  const { id, attempt, isSilent } = start;
  const event = isSilent ? '' : eventText({ type: 'node', node: nodeOfKey(id), phase: 'Running', attempt });
  return { id, value: JSON.stringify(markedNode(start)), event };
}

function agentArgs(agent: AgentMark): Stored {
  return { id: agent.id, value: JSON.stringify(markedNode(agent)), event: '' };
}

function markedNode({
  id,
  attempt,
  atMostOnce,
  at,
  firstAt,
  crashes,
  continues,
  agent,
  usage,
}: AgentMark): NodeState {
  return {
    id,
    phase: 'Running',
    attempts: attempt,
    startedAt: firstAt ?? at,
    mark: { attempt, atMostOnce, ...(crashes !== undefined && { crashes }), ...(continues && { continues }) },
    ...(agent && { agent }),
    ...(usage && { usage }),
  };
}

function nodeOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function isLarge({ value }: { value: string }): boolean {
  return isTooLarge(value);
}

/** Bytes are at most three times the characters, so that most texts need no counting. */
function isTooLarge(text: string): boolean {
  return text.length * 3 > VALUE_LIMIT_BYTES && Buffer.byteLength(text) > VALUE_LIMIT_BYTES;
}
