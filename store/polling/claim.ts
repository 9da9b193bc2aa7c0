/**
 * Looking at a trigger: one at a time, whoever tries. A claim holds for ten seconds unless it is renewed, so that one whose
 * holder died is soon free; what its holder does after that is refused. All times are the store's.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { defineScript } from '../script.ts';
import { POLL_FENCE } from './lua.ts';
import type { PolledTrigger, PollRef } from './triggers.ts';
import { randomText } from '../random.ts';
import { NOW, REQUIRE_STORE } from '../lua.ts';

const LEASE_MS = 10_000;
/** How often a claim is to be renewed. */
export const RENEW_MS = 3_000;

export type ClaimedPoll =
  | {
      outcome: 'claimed';
      ref: PollRef;
      trigger: PolledTrigger;
      /** As it was stored; undefined before the first look. */
      cursor: string | undefined;
      /** Looks that failed in a row before this one. */
      failures: number;
    }
  /** Not now: it is not due for so long, or somebody else looks; or it failed, where only those are wanted that work. */
  | { outcome: 'wait'; ms: number; failures: number }
  /** Nobody is to look at it any more. */
  | { outcome: 'gone' }
  | Unavailable;

const CLAIM = defineScript({
  keys: ['meta', 'poll'],
  // `only_working`: 1 where a trigger whose last poll failed is left alone.
  args: ['pod', 'token', 'lease', 'only_working'],
  answers: {
    claimed: 'configuration, failures in a row, cursor or an empty text',
    wait: 'milliseconds until the trigger is due or the claim of another pod expires, failures in a row',
    gone: 'the trigger is not polled any more',
  },
  body: `
    ${REQUIRE_STORE}
    local config, interval, early, holder, held_until, began, not_before, failures, cursor = unpack(
      redis.call('HMGET', poll, 'config', 'interval', 'early', 'token', 'until', 'at', 'notBefore', 'failures', 'cursor'))
    if not config then return {'gone'} end
    ${NOW}
    failures = failures or '0'
    -- A claim of the same pod is of a process that has died. A claim that expires too late is of a clock that went back since.
    local left = tonumber(held_until or 0) - now
    local is_other = holder and string.sub(holder, 1, #pod + 1) ~= pod .. '/'
    if is_other and left > 0 and left <= tonumber(lease) then return {'wait', tostring(left), failures} end
    local due = tonumber(not_before or 0)
    began = tonumber(began)
    if began and began <= now then due = math.max(due, began + tonumber(interval) - tonumber(early)) end
    if due > now then return {'wait', tostring(due - now), failures} end
    if only_working == '1' and failures ~= '0' then return {'wait', '0', failures} end
    redis.call('HSET', poll, 'token', token, 'until', now + lease, 'began', now)
    redis.call('HDEL', poll, 'changed')
    return {'claimed', config, failures, cursor or ''}
  `,
});

/**
 * Claims a trigger that is due. `pod`: who looks; what the same pod claimed before is free, since it has ended. `onlyWell`: one whose
 * last look failed is left alone, which is told as no wait.
 */
export function claimPoll(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  pod: string,
  { onlyWell = false }: { onlyWell?: boolean } = {},
): Promise<ClaimedPoll> {
  const { meta, poll } = keysOf(project);
  const token = `${pod}/${randomText(12)}`;
  return orUnavailable(async (): Promise<ClaimedPoll> => {
    const answer = await conn.script(
      CLAIM,
      [meta, poll(workflowUid)],
      [pod, token, LEASE_MS, onlyWell ? '1' : '0'],
    );
    const [outcome, detail = '', failures = '0', cursor = ''] = answer as string[];
    if (outcome === 'gone') return { outcome };
    if (outcome === 'wait') return { outcome, ms: Number(detail), failures: Number(failures) };
    return {
      outcome: 'claimed',
      ref: { project, workflowUid, token },
      trigger: JSON.parse(detail) as PolledTrigger,
      cursor: cursor === '' ? undefined : cursor,
      failures: Number(failures),
    };
  });
}

const RENEW = defineScript({
  flags: 'drains',
  keys: ['meta', 'poll'],
  args: ['token', 'lease'],
  answers: { done: 'the claim is renewed', fenced: "the poll is not the caller's" },
  body: `
    ${POLL_FENCE}
    ${NOW}
    redis.call('HSET', poll, 'until', now + lease)
    return 'done'
  `,
});

const RELEASE = defineScript({
  flags: 'drains',
  keys: ['meta', 'poll'],
  args: ['token'],
  answers: { done: 'the claim is released', fenced: "the poll is not the caller's" },
  body: `
    ${POLL_FENCE}
    redis.call('HDEL', poll, 'token', 'until', 'began')
    return 'done'
  `,
});

/** The look is this one's, or another's by now; then it must end without a word. */
export type PollStep = { outcome: 'done' } | { outcome: 'fenced' } | Unavailable;

/** Keeps the claim for further ten seconds. */
export function renewPoll(conn: RunStoreConnection, ref: PollRef): Promise<PollStep> {
  return pollStep(() => conn.script(RENEW, keysOfPoll(ref), [ref.token, LEASE_MS]));
}

/** Gives the claim up as if nobody had looked. */
export function releasePoll(conn: RunStoreConnection, ref: PollRef): Promise<PollStep> {
  return pollStep(() => conn.script(RELEASE, keysOfPoll(ref), [ref.token]));
}

/** `meta` and `poll` of the trigger. */
export function keysOfPoll({ project, workflowUid }: PollRef): string[] {
  const { meta, poll } = keysOf(project);
  return [meta, poll(workflowUid)];
}

/** Calls a script that answers `done` or `fenced`. */
export function pollStep(call: () => Promise<unknown>): Promise<PollStep> {
  return orUnavailable(async () => ({ outcome: (await call()) === 'fenced' ? 'fenced' : 'done' }));
}
