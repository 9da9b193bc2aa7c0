/**
 * A run goes forward: start marks before effects, checkpoints after them, the reply, the end. Each call is one script,
 * so that it is stored as a whole or not at all, and only for the runner that holds the run.
 */
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import type { RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectKey } from '../store/keys.ts';
import { COALESCE_MS, EMIT, END, END_KEYS, ENQUEUE, FENCE, PARKED_EVENT_BYTES, VANISHED } from './lua.ts';
import { PARK } from './park.ts';
import { LEARN_GROWTH, RUN_OVERHEAD_BYTES } from './room.ts';
import { defineScript, type Script } from '../store/script.ts';
import { groupOfToken } from './token.ts';
import type {
  Advance,
  ClaimRef,
  Fenced,
  NodeStart,
  NodeState,
  Reply,
  Rewound,
  RunEnd,
  RunEventBody,
  TooLarge,
} from './types.ts';
import { NOW } from '../store/lua.ts';

/** What one value in the run store may have: an event, the output of a node, a reply. */
export const VALUE_LIMIT_BYTES = 512 * 1024;
const RUN_LIMIT_BYTES = 8 * 1024 * 1024;
/**
 * How old an answer may be with which effects begin: as long as a call may take. A process that was held up may read one that is older
 * before its timers say so, and the run may be another's by then. Far below what takeovers wait for.
 */
const MARK_VALID_MS = 1_500;
/** In events; the node itself keeps the whole message. */
const EVENT_MESSAGE_LENGTH = 300;

/** Behind the named arguments: `waits` pairs `node, delay`, then the nodes' fields and values and their events, `field, value, event` each. */
const ADVANCE = defineScript({
  flags: 'drains',
  keys: [...END_KEYS, 'claims', 'due', 'runs'],
  args: 'run_id token checkpoints outputs reply phase reason message end_event park waits follows whole'.split(
    ' ',
  ),
  body: `
    ${FENCE}
    ${NOW}
    local state = redis.call('HMGET', run, 'accepted', 'sequence', 'bytes', 'progress', 'reply', 'evcount', 'evbytes', 'wf')
    ${VANISHED}
    if not state[8] then return vanished(run_id) end
    if follows ~= '' and tonumber(state[2]) > tonumber(follows) then
      -- Stored before: the answer was lost, or the call was held up on its way until the run had gone on.
      return redis.call('SISMEMBER', cancels, run_id)
    end
    local sequence, event_count, event_bytes = tonumber(state[2]) + 1, state[6], state[7]
    if follows ~= '' and tonumber(state[2]) < tonumber(follows) then
      -- The store was put back to an older state. Records of what is lost exist, so that the sequence goes on from there.
      if whole ~= '1' then return 'rewound' end
      sequence = follows + 1
    end
    ${EMIT}

    local replies = reply ~= '' and not state[5]
    local added = replies and #reply or 0
    local fields = {}
    local first = 14 + 2 * waits
    for index = 14, first - 2, 2 do
      fields[#fields + 1] = 'w:' .. ARGV[index]
      fields[#fields + 1] = now + ARGV[index + 1]
    end
    for index = first, #ARGV, 3 do
      added = added + #ARGV[index + 1] - redis.call('HSTRLEN', run, ARGV[index])
      fields[#fields + 1] = ARGV[index]
      fields[#fields + 1] = ARGV[index + 1]
    end
    local bytes = tonumber(state[3]) + added
    if (outputs == '1' or replies) and bytes > ${RUN_LIMIT_BYTES} then
      return 'too-large'
    end
    local grown
    if outputs == '1' or phase ~= '' then
      grown = bytes - redis.call('HSTRLEN', run, 'input') - ${RUN_OVERHEAD_BYTES}
    end
    if whole == '1' then redis.call('HDEL', run, 'restored', 'doubt') end
    for index = first, #ARGV, 3 do
      emit(ARGV[index + 2])
    end
    if replies then
      fields[#fields + 1] = 'reply'
      fields[#fields + 1] = reply
    end

    if phase ~= '' then
      redis.call('HSET', run, 'bytes', bytes, unpack(fields))
      ${ENQUEUE}
      ${END}
      finish(state[8], true, state[1], sequence, added, {phase, reason, message, end_event}, grown)
      redis.call('HDEL', claims, run_id)
      return 0
    end
    local cancelled = redis.call('SISMEMBER', cancels, run_id)
    local most_events
    if park ~= '' and cancelled == 0 then
      ${PARK}
      most_events = ${PARKED_EVENT_BYTES}
    end
    write_events(most_events)
    redis.call('HSET', run, 'bytes', bytes, 'evcount', event_count, 'evbytes', event_bytes, 'sequence', sequence,
      'progress', checkpoints == '1' and 1 or state[4], unpack(fields))
    if added ~= 0 then
      redis.call('HINCRBY', meta, 'bytes', added)
    end
    if outputs == '1' then
      ${LEARN_GROWTH}
      local expected = redis.call('HGET', meta, 'growth')
      local learnt = learn(expected, grown, false)
      if learnt ~= tonumber(expected) then redis.call('HSET', meta, 'growth', learnt) end
    end
    redis.call('ZADD', out, 'NX', now + ${COALESCE_MS}, run_id)
    redis.call('PUBLISH', run, replies and 'reply' or 'event')
    return cancelled
  `,
});

/**
 * Stores checkpoints, reply, start marks and end or wait of a run, in one round trip and with one fsync. Of several
 * replies the first is kept. Refuses a value above 512 KiB, and outputs and replies with which the run is above 8 MiB; start
 * marks, ends, and checkpoints that say only how a node ended are never refused. Start marks whose answer is read late are
 * `unavailable`: asked again, the store says whether the run is still ours. `rewound`: the store has an older state of the run than
 * the step follows, and nothing of it was stored; store it again as a `whole` step.
 */
export async function advance(
  conn: RunStoreConnection,
  ref: ClaimRef,
  { checkpoints = [], reply, starts = [], waits = [], end, parkMs, follows, whole }: Advance,
): Promise<Fenced | TooLarge | Rewound> {
  const replyText = reply === undefined ? '' : JSON.stringify(reply);
  const nodes = [...checkpoints.flatMap(checkpointArgs), ...starts.flatMap(startArgs)];
  if ([replyText, ...nodes].some(isTooLarge))
    return { outcome: 'too-large', what: 'value', limitBytes: VALUE_LIMIT_BYTES };
  const askedAt = performance.now();
  return orUnavailable(async (): Promise<Fenced | TooLarge | Rewound> => {
    const answer = await conn.script(
      ADVANCE,
      transitionKeys(ADVANCE, { ...ref, group: groupOfToken(ref.token) }),
      [
        ref.run,
        ref.token,
        checkpoints.length > 0 ? '1' : '0',
        checkpoints.some(({ output }) => output !== undefined) ? '1' : '0',
        replyText,
        ...(end ? endArgs(end) : ['', '', '', '']),
        parkMs === undefined ? '' : Math.ceil(parkMs),
        waits.length,
        follows ?? '',
        whole ? '1' : '',
        ...waits.flatMap(({ id, delayMs }) => [id, Math.ceil(delayMs)]),
        ...nodes,
      ],
    );
    if (answer === 'too-large') return { outcome: 'too-large', what: 'run', limitBytes: RUN_LIMIT_BYTES };
    if (answer === 'fenced' || answer === 'rewound') return { outcome: answer };
    if (starts.length > 0 && performance.now() - askedAt > MARK_VALID_MS)
      return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };
    return { outcome: 'done', cancelRequested: answer === 1 };
  });
}

/** The durable mark before a node's effect. */
export async function startNode(conn: RunStoreConnection, ref: ClaimRef, node: NodeStart): Promise<Fenced> {
  return neverTooLarge(neverRewound(await advance(conn, ref, { starts: [node] })));
}

/** What finished nodes produced, and the reply if one of them made it. */
export async function checkpoint(
  conn: RunStoreConnection,
  ref: ClaimRef,
  nodes: NodeState[],
  { reply }: { reply?: Reply } = {},
): Promise<Fenced | TooLarge> {
  return neverRewound(await advance(conn, ref, { checkpoints: nodes, ...(reply && { reply }) }));
}

/** Ends the run, once and for all. */
export async function finish(conn: RunStoreConnection, ref: ClaimRef, end: RunEnd): Promise<Fenced> {
  return neverTooLarge(neverRewound(await advance(conn, ref, { end })));
}

/** The keys of a script that is about one run, as it declares them. */
export function transitionKeys(
  script: Script,
  { project, run, group }: { project: string; run: string; group: RunGroup },
): string[] {
  const keys = keysOf(project);
  return script.keys.map((name) => {
    if (name === 'run' || name === 'ev') return keys[name](run);
    if (name === 'wf' || name === 'runs') return keys[name](group);
    return keys[name as ProjectKey];
  });
}

/** A run's end and the event of it, as the scripts that end runs take them. */
export function endArgs({ phase, reason, message }: RunEnd): string[] {
  const event = eventText({ type: 'run', phase, ...inShort(reason, message) });
  return [phase, reason ?? '', message ?? '', event];
}

function checkpointArgs({ mark: _ended, nextAttemptAt: _waits, ...node }: NodeState): string[] {
  const { outputIsInput, output, ...rest } = node;
  const stored = outputIsInput ? { ...rest, outputIsInput } : { ...rest, ...(output && { output }) };
  const event = eventText({
    type: 'node',
    node: node.id,
    phase: node.phase,
    attempt: node.attempts,
    ...inShort(node.reason, node.message),
  });
  return [`n:${node.id}`, JSON.stringify(stored), event];
}

function startArgs({ id, attempt, atMostOnce, at, firstAt }: NodeStart): string[] {
  const state: NodeState = {
    id,
    phase: 'Running',
    attempts: attempt,
    startedAt: firstAt ?? at,
    mark: { attempt, atMostOnce },
  };
  return [`n:${id}`, JSON.stringify(state), eventText({ type: 'node', node: id, phase: 'Running', attempt })];
}

function eventText(event: RunEventBody): string {
  return JSON.stringify(event);
}

function inShort(reason?: string, message?: string): { reason?: string; message?: string } {
  return {
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message: message.slice(0, EVENT_MESSAGE_LENGTH) }),
  };
}

/** Bytes are at most three times the characters, so that most texts need no counting. */
function isTooLarge(text: string): boolean {
  return text.length * 3 > VALUE_LIMIT_BYTES && Buffer.byteLength(text) > VALUE_LIMIT_BYTES;
}

/** A step that does not say what it follows fits every state of the run. */
function neverRewound(outcome: Fenced | TooLarge | Rewound): Fenced | TooLarge {
  if (outcome.outcome === 'rewound') throw new Error('a step without a predecessor was compared with one');
  return outcome;
}

function neverTooLarge(outcome: Fenced | TooLarge): Fenced {
  if (outcome.outcome === 'too-large') throw new Error('a mark or an end is larger than a value may be');
  return outcome;
}
