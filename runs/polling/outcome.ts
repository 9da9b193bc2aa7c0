/** What a look came to: a cursor that moved, once its events were submitted, or a failure and the time until the next try. */
import type { RunStoreConnection } from '../connection.ts';
import { NOW } from '../lua.ts';
import { defineScript } from '../script.ts';
import { keysOfPoll, POLL_FENCE, pollStep, type PollRef, type PollStep } from './claim.ts';

const MOVE = defineScript({
  flags: 'drains',
  keys: ['meta', 'poll'],
  args: ['token', 'cursor', 'lost', 'ends'],
  body: `
    ${POLL_FENCE}
    local began = redis.call('HGET', poll, 'began')
    redis.call('HSET', poll, 'cursor', cursor, 'polled', began)
    redis.call('HDEL', poll, 'failures', 'notBefore', 'reason', 'error')
    if lost ~= '' then redis.call('HSET', poll, 'lost', lost) end
    if ends == '1' then
      redis.call('HSET', poll, 'at', began)
      redis.call('HDEL', poll, 'token', 'until', 'began')
    end
    return 'done'
  `,
});

/**
 * Moves the cursor of a look that worked; its events must have been submitted. `more`: the look goes on with the next page,
 * and whoever takes over does so at once. `lost`: why the cursor before meant nothing.
 */
export function movePoll(
  conn: RunStoreConnection,
  ref: PollRef,
  { cursor, more, lost = '' }: { cursor: string; more: boolean; lost?: string | undefined },
): Promise<PollStep> {
  return pollStep(() => conn.script(MOVE, keysOfPoll(ref), [ref.token, cursor, lost, more ? '0' : '1']));
}

const FAIL = defineScript({
  flags: 'drains',
  keys: ['meta', 'poll'],
  args: ['token', 'failures', 'delay', 'reason', 'error'],
  body: `
    ${POLL_FENCE}
    ${NOW}
    redis.call('HSET', poll, 'at', redis.call('HGET', poll, 'began'), 'failures', failures,
      'notBefore', now + delay, 'reason', reason, 'error', error)
    redis.call('HDEL', poll, 'token', 'until', 'began')
    return 'done'
  `,
});

/** The look failed, for the `failures`th time in a row; the next one comes after `delayMs`. The cursor stays. */
export function failPoll(
  conn: RunStoreConnection,
  ref: PollRef,
  failure: { failures: number; delayMs: number; reason: string; message: string },
): Promise<PollStep> {
  const { failures, delayMs, reason, message } = failure;
  return pollStep(() =>
    conn.script(FAIL, keysOfPoll(ref), [ref.token, failures, Math.ceil(delayMs), reason, message]),
  );
}
