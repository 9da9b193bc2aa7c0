/**
 * Drops ended runs that need not be recorded, several in one call: what `recorded` does for each of them,
 * with what they share read and written once.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import { NOW_OF_READ } from '../../store/lua.ts';
import { argumentsOf, defineScript } from '../../store/script.ts';
import { ANNOUNCE_ROOM, RUN_KEPT_S, SUMMARY_OVERHEAD_BYTES } from '../room.ts';
import { scriptKeys } from '../scriptKeys.ts';
import type { RunState } from '../types/run.ts';
import { toSummary } from './record.ts';
import { HISTORY, recorded, ROOM_FOR_SUMMARIES, SETTLED_MS, type Dropped } from './recorded.ts';

const DROP_EXCESS = defineScript({
  flags: 'drains',
  transitions: ['ended > none'],
  keys: ['meta', 'ready', 'unrecorded', 'wf', 'runs', 'summarized', 'summaries'],
  args: ['phase'],
  lists: { excess: { args: ['run_id', 'sequence', 'summary'], keys: ['run'] } },
  answers: 'for each run what `recorded` answers, or `alone` where nothing was changed and it is to be asked',
  body: `
    local store_id, last, ahead, used, key_quota, summary_bytes, short = unpack(
      redis.call('HMGET', meta, 'id', 'clock', 'ahead', 'bytes', 'keyQuota', 'summaries', 'short'))
    if not store_id then return redis.error_reply('NOLOG the run store is empty') end
    ${NOW_OF_READ}
    local waiting = 'waiting:' .. phase
    local known, unrecorded_ends, history, own_summaries = unpack(
      redis.call('HMGET', wf, 'accepted', waiting, 'keep:' .. phase, 'summaries'))
    unrecorded_ends, history = tonumber(unrecorded_ends or 0), tonumber(history or ${HISTORY})
    local answers, gone, names, times, lines, added = {}, {}, {}, {}, {}, 0
    used = tonumber(used or 0)
    for index, run_id, sequence, summary, run in excess() do
      local state, stored_sequence, ended, bytes, dropped, accepted, recorded, creating, unreported = unpack(
        redis.call('HMGET', run, 'phase', 'sequence', 'ended', 'bytes', 'dropped', 'accepted', 'recorded', 'creating',
          'unreported'))
      local is_other = state ~= phase or stored_sequence ~= sequence or not ended
      if is_other or dropped or recorded or creating or unreported then
        answers[index] = 'alone'
      elseif math.abs(wall - ended) < ${SETTLED_MS} or unrecorded_ends - #names <= history then
        answers[index] = 'kept'
      else
        answers[index] = 'recorded'
        gone[#gone + 1], names[#names + 1] = index, run_id
        times[#times + 1] = accepted
        times[#times + 1] = run_id
        lines[#lines + 1] = run_id
        lines[#lines + 1] = summary
        used, added = used - bytes, added + ${SUMMARY_OVERHEAD_BYTES} + #summary
      end
    end
    if #names == 0 then return answers end
    -- A dropped workflow has no summaries, and a write would create its hash again.
    if known then
      redis.call('ZADD', summarized, unpack(times))
      redis.call('HSET', summaries, unpack(lines))
    end
    redis.call('ZREM', runs, unpack(names))
    redis.call('ZREM', unrecorded, unpack(names))
    for _, index in ipairs(gone) do
      local run = keys_of_excess(index)
      redis.call('HSET', run, 'dropped', 1)
      redis.call('EXPIRE', run, ${RUN_KEPT_S})
    end
    if known then
      ${ROOM_FOR_SUMMARIES}
      added = room_for_summaries(#names, added)
      redis.call('HSET', wf, waiting, unrecorded_ends - #names, 'summaries', tonumber(own_summaries or 0) + added)
      redis.call('HSET', meta, 'bytes', used, 'summaries', tonumber(summary_bytes or 0) + added)
    else
      redis.call('HSET', meta, 'bytes', used)
    end
    ${ANNOUNCE_ROOM}
    announce_room(short)
    return answers
  `,
});

/** So many runs are dropped in one call: while it is executed, the run store does nothing else. */
const AT_ONCE = 50;

/**
 * Tells the store of each of these ended runs of one group and phase that it need not be recorded. Answers as
 * `recorded` does, in any order.
 */
export async function dropExcess(
  conn: RunStoreConnection,
  states: readonly RunState[],
): Promise<(Dropped | Unavailable)[]> {
  const simple = states.filter(isSimple);
  const others = states.filter((state) => !isSimple(state));
  const calls = Array.from({ length: Math.ceil(simple.length / AT_ONCE) }, (_, index) =>
    dropTogether(conn, simple.slice(index * AT_ONCE, (index + 1) * AT_ONCE)),
  );
  const alone = others.map((state) => recorded(conn, state, 'excess'));
  const outcomes = await Promise.all([...calls, Promise.all(alone)]);
  return outcomes.flat();
}

/**
 * A failed run may be kept for others, and a dedupe key is stored for days. The store may have lost the end
 * of a run that the recorder knows as ended.
 */
function isSimple({ phase, endedAt, dedupeHash }: RunState): boolean {
  return phase !== 'Failed' && endedAt !== undefined && dedupeHash === undefined;
}

async function dropTogether(
  conn: RunStoreConnection,
  states: readonly RunState[],
): Promise<(Dropped | Unavailable)[]> {
  const [first] = states;
  if (!first) return [];
  const { run } = keysOf(first.project);
  const args = argumentsOf(DROP_EXCESS, {
    phase: first.phase,
    excess: states.map((state) => [state.run, state.sequence, JSON.stringify(toSummary(state))]),
  });
  const keys = [...scriptKeys(DROP_EXCESS, first), ...states.map((state) => run(state.run))];
  const answers = await orUnavailable(
    async () => (await conn.script(DROP_EXCESS, keys, args)) as (Dropped | 'alone')[],
  );
  if (!Array.isArray(answers)) return [answers];
  const alone = states.filter((_, index) => answers[index] === 'alone');
  const outcomes = await Promise.all(alone.map((state) => recorded(conn, state, 'excess')));
  return [...answers.filter((answer) => answer !== 'alone'), ...outcomes];
}
