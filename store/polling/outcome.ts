/**
 * The outcome of a poll: a new cursor, once its events were submitted, or a failure and the delay before the
 * next poll.
 */
import type { RunStoreConnection } from '../connection.ts';
import { NOW } from '../lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../script.ts';
import { keysOfPoll, pollStep, type PollStep } from './claim.ts';
import { COUNT, WORKED } from './counts.ts';
import { keysOfKnownItems } from './knownItems.ts';
import { DROP_OTHER_ITEMS, POLL_FENCE } from './lua.ts';
import type { PollRef } from './triggers.ts';

/** Counts the poll, for metrics. */
const COUNT_POLL = defineFragment({
  needs: ['poll', 'events', 'lost', 'ends'],
  lua: `
if events ~= '0' then redis.call('HINCRBY', poll, '${COUNT}events', events) end
if lost ~= '' then redis.call('HINCRBY', poll, '${COUNT}lost', 1) end
if ends == '1' then redis.call('HINCRBY', poll, '${COUNT}${WORKED}', 1) end
`,
});

const MOVE = defineScript({
  flags: 'drains',
  keys: ['meta', 'poll', 'knownItems'],
  // `ends`: 1 with the last page. `items`: the name of the known items that come into force, or empty.
  args: ['token', 'cursor', 'lost', 'ends', 'items', 'events'],
  answers: { done: 'stored', fenced: "the poll is not the caller's" },
  body: `
    ${POLL_FENCE}
    ${COUNT_POLL}
    if items ~= '' then
      redis.call('HSET', poll, 'memory', items)
      local in_force = items
      ${DROP_OTHER_ITEMS}
    end
    local began, changed = unpack(redis.call('HMGET', poll, 'began', 'changed'))
    redis.call('HSET', poll, 'cursor', cursor)
    if lost ~= '' then redis.call('HSET', poll, 'lost', lost) end
    -- A changed trigger has not been polled yet.
    if not changed then
      redis.call('HSET', poll, 'polled', began)
      redis.call('HDEL', poll, 'failures', 'notBefore', 'reason', 'error', 'asked')
    end
    if ends == '1' then
      if not changed then redis.call('HSET', poll, 'at', began) end
      redis.call('HDEL', poll, 'token', 'until', 'began')
    end
    return 'done'
  `,
});

type MovedPoll = {
  cursor: string;
  more: boolean;
  events?: number;
  lost?: string | undefined;
  memory?: string | undefined;
};

/**
 * Moves the cursor after a successful poll, whose events must have been submitted. `more`: the poll continues
 * with the next page. `events`: how many were submitted. `lost`: why the cursor before was invalid. `memory`:
 * the name of the known items of this cursor; left out, those in force stay.
 */
export function movePoll(
  conn: RunStoreConnection,
  ref: PollRef,
  { cursor, more, events = 0, lost = '', memory = '' }: MovedPoll,
): Promise<PollStep> {
  const args = argumentsOf(MOVE, {
    token: ref.token,
    cursor,
    lost,
    ends: more ? '0' : '1',
    items: memory,
    events,
  });
  return pollStep(() => conn.script(MOVE, keysOfKnownItems(ref), args));
}

const FAIL = defineScript({
  flags: 'drains',
  keys: ['meta', 'poll'],
  // `asked`: 1 where the provider asked for the delay.
  args: ['token', 'failures', 'delay', 'reason', 'error', 'asked'],
  answers: { done: 'stored', fenced: "the poll is not the caller's" },
  body: `
    ${POLL_FENCE}
    ${NOW}
    redis.call('HINCRBY', poll, '${COUNT}' .. reason, 1)
    local began, changed = unpack(redis.call('HMGET', poll, 'began', 'changed'))
    if not changed then
      redis.call('HSET', poll, 'at', began, 'failures', failures,
        'notBefore', now + delay, 'reason', reason, 'error', error, 'asked', asked)
    end
    redis.call('HDEL', poll, 'token', 'until', 'began')
    return 'done'
  `,
});

/**
 * Stores that the poll failed, for the `failures`th time in a row. The next one is due after `delayMs`; the
 * cursor stays. If the trigger was changed meanwhile, it is due at once. `isAsked`: the provider asked for
 * the delay.
 */
export function failPoll(
  conn: RunStoreConnection,
  ref: PollRef,
  failure: { failures: number; delayMs: number; reason: string; message: string; isAsked?: boolean },
): Promise<PollStep> {
  const { failures, delayMs, reason, message, isAsked = false } = failure;
  const args = argumentsOf(FAIL, {
    token: ref.token,
    failures,
    delay: Math.ceil(delayMs),
    reason,
    error: message,
    asked: isAsked ? '1' : '0',
  });
  return pollStep(() => conn.script(FAIL, keysOfPoll(ref), args));
}
