/**
 * Rejoins a runner to its run in a run store that was restored to a state before the claim, or that lost its
 * data and restored the run from its record. The runner then stores all that it knows (`Advance.whole`).
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { scriptKeys } from './scriptKeys.ts';
import { holderOf } from './claimToken.ts';
import type { ClaimRef } from './types/claim.ts';

/**
 * `may_rejoin()`: nobody has claimed the run since the claim was lost. Each claim raises the epoch of its
 * run, so that a lower one is from before the claim. A restored run has a new epoch, and no count of crashes
 * until it is claimed.
 */
const MAY_REJOIN = defineFragment({
  needs: ['epoch_stored', 'restored', 'crashes', 'epoch'],
  gives: ['may_rejoin'],
  lua: `
local function may_rejoin()
  if tonumber(epoch_stored or 0) < tonumber(epoch) then return true end
  return not crashes and restored and tonumber(restored) <= tonumber(epoch)
end
`,
});

const REJOIN = defineScript({
  flags: 'drains',
  transitions: ['ready > claimed', 'overLimit > claimed', 'parked > claimed'],
  keys: ['meta', 'ready', 'overLimit', 'parked', 'claims', 'heartbeats', 'wf', 'run'],
  // `left`: milliseconds of the run's timeout, or empty.
  args: ['run_id', 'token', 'runner', 'epoch', 'accepted_at', 'left'],
  answers: {
    done: 'the run is claimed with this token',
    fenced: 'it is another run, has ended, or was claimed since',
  },
  body: `
    ${REQUIRE_STORE}
    local group, accepted, ended, epoch_stored, restored, started, crashes = unpack(
      redis.call('HMGET', run, 'wf', 'accepted', 'ended', 'epoch', 'restored', 'started', 'crashes'))
    if not group or ended or math.floor(accepted / 1000) ~= tonumber(accepted_at) then return 'fenced' end
    ${MAY_REJOIN}
    if redis.call('HEXISTS', claims, run_id) == 1 or not may_rejoin() then return 'fenced' end

    ${NOW}
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    redis.call('HSETNX', heartbeats, runner, 0)
    redis.call('HSET', claims, run_id, token)
    if redis.call('ZREM', ready, entry) == 0 then
      redis.call('ZREM', overLimit, entry)
      redis.call('ZREM', parked, entry)
      if redis.call('HEXISTS', wf, 'active') == 1 then redis.call('HINCRBY', wf, 'active', 1) end
    end
    redis.call('HSET', run, 'phase', 'Running', 'epoch', math.max(tonumber(epoch_stored or 0), tonumber(epoch)),
      'started', started or wall, 'deadline', left ~= '' and now + left or '')
    -- A run that was never claimed in this store does not have them.
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
    const args = argumentsOf(REJOIN, {
      run_id: ref.run,
      token: ref.token,
      runner: holderOf(ref.token),
      epoch,
      accepted_at: acceptedAt,
      left,
    });
    const answer = await conn.script(REJOIN, scriptKeys(REJOIN, ref), args);
    return { outcome: answer === 'done' ? 'done' : 'fenced' };
  });
}
