/**
 * `rejoin`: the way back of a runner to its run, in a run store that was put back to a state from before the claim, or that
 * lost its data and got the run back from its record. The runner then stores what it knows (`Advance.whole`).
 */
import { transitionKeys } from './advance.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { defineScript } from '../store/script.ts';
import { holderOf, groupOfToken } from './token.ts';
import type { ClaimRef } from './types.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';

/**
 * Each claim raises the epoch of its run, so that a lower one is from before the claim. A restored run has a new epoch; nobody
 * has claimed it since as long as it is `Pending`.
 */
const REJOIN = defineScript({
  flags: 'drains',
  keys: ['meta', 'q', 'held', 'due', 'claims', 'beats', 'wf', 'run'],
  args: ['run_id', 'token', 'runner', 'epoch', 'accepted_at', 'left'],
  body: `
    ${REQUIRE_STORE}
    local state = redis.call('HMGET', run, 'wf', 'accepted', 'phase', 'ended', 'epoch', 'restored', 'started')
    if not state[1] or state[4] or math.floor(state[2] / 1000) ~= tonumber(accepted_at)
      or redis.call('HEXISTS', claims, run_id) == 1 then
      return 'fenced'
    end
    local is_older = tonumber(state[5] or 0) < tonumber(epoch)
    local is_restored = state[3] == 'Pending' and state[6] and tonumber(state[6]) <= tonumber(epoch)
    if not is_older and not is_restored then return 'fenced' end

    ${NOW}
    local entry = state[1] .. ' ' .. state[2] .. ' ' .. run_id
    redis.call('HSETNX', beats, runner, 0)
    redis.call('HSET', claims, run_id, token)
    if redis.call('ZREM', q, entry) == 0 then
      redis.call('ZREM', held, entry)
      redis.call('ZREM', due, entry)
      if redis.call('HEXISTS', wf, 'active') == 1 then redis.call('HINCRBY', wf, 'active', 1) end
    end
    redis.call('HSET', run, 'phase', 'Running', 'epoch', math.max(tonumber(state[5] or 0), tonumber(epoch)),
      'started', state[7] or wall, 'deadline', left ~= '' and now + left or '')
    -- What only a claim gives to a run.
    for _, count in ipairs({'sequence', 'evcount', 'evbytes', 'progress', 'crashes'}) do
      redis.call('HSETNX', run, count, 0)
    end
    return 'done'
  `,
});

/** What the runner knows of its claim. `remainingMs`: of the run's timeout. */
export type LostClaim = { epoch: number; acceptedAt: number; remainingMs: number };

/** Takes the run back under the same token, if nobody has claimed it since the store lost that claim. */
export function rejoin(
  conn: RunStoreConnection,
  ref: ClaimRef,
  { epoch, acceptedAt, remainingMs }: LostClaim,
): Promise<{ outcome: 'done' } | { outcome: 'fenced' } | Unavailable> {
  const left = Number.isFinite(remainingMs) ? Math.max(0, Math.ceil(remainingMs)) : '';
  return orUnavailable(async () => {
    const answer = await conn.script(
      REJOIN,
      transitionKeys(REJOIN, { ...ref, group: groupOfToken(ref.token) }),
      [ref.run, ref.token, holderOf(ref.token), epoch, acceptedAt, left],
    );
    return { outcome: answer === 'done' ? 'done' : 'fenced' };
  });
}
