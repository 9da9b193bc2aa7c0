/**
 * Claims of polls: one pod or runner at a time polls a trigger. A claim expires after ten seconds unless it
 * is renewed, so that the trigger of a dead pod is soon free. Later calls of the old holder are refused. All
 * times are the project's clock.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { NOW, REQUIRE_STORE } from '../lua.ts';
import { randomText } from '../random.ts';
import { defineScript } from '../script.ts';
import { POLL_FENCE } from './lua.ts';
import type { PolledTrigger, PollRef } from './triggers.ts';

const LEASE_MS = 10_000;
/** How often to renew a claim. */
export const RENEW_MS = 3_000;

export type ClaimedPoll =
  | {
      outcome: 'claimed';
      ref: PollRef;
      trigger: PolledTrigger;
      /** As it was stored; undefined before the first poll. */
      cursor: string | undefined;
      /** Polls that failed in a row before this one. */
      failures: number;
    }
  /** `ms`: until it is due, or another claim ends. Or its last poll failed, with `onlyWorking`. */
  | { outcome: 'wait'; ms: number; failures: number }
  /** The trigger is not polled any more. */
  | { outcome: 'gone' }
  | Unavailable;

const CLAIM = defineScript({
  keys: ['meta', 'poll'],
  // `only_working`: 1 where a trigger whose last poll failed is left alone. `most_early`: by how many
  // milliseconds a poll may be early.
  args: ['pod', 'token', 'lease', 'only_working', 'most_early'],
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
    -- A claim of the same pod is of a process that has died. A claim that expires too late is of a clock that
    -- went back since.
    local left = tonumber(held_until or 0) - now
    local is_other = holder and string.sub(holder, 1, #pod + 1) ~= pod .. '/'
    if is_other and left > 0 and left <= tonumber(lease) then return {'wait', tostring(left), failures} end
    local due = tonumber(not_before or 0)
    began = tonumber(began)
    early = math.max(tonumber(early), tonumber(most_early))
    if began and began <= now then due = math.max(due, began + tonumber(interval) - early) end
    if due > now then return {'wait', tostring(due - now), failures} end
    if only_working == '1' and failures ~= '0' then return {'wait', '0', failures} end
    redis.call('HSET', poll, 'token', token, 'until', now + lease, 'began', now)
    redis.call('HDEL', poll, 'changed')
    return {'claimed', config, failures, cursor or ''}
  `,
});

/**
 * Claims a trigger that is due. An earlier claim of the same `pod` is void, because that process has ended.
 * `onlyWorking`: a trigger whose last poll failed is not claimed; the outcome is a wait of 0 ms. `aheadMs`:
 * by how much a poll may be early; the delay after a failure is never shortened.
 */
export function claimPoll(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  pod: string,
  { onlyWorking = false, aheadMs = 0 }: { onlyWorking?: boolean; aheadMs?: number } = {},
): Promise<ClaimedPoll> {
  const { meta, poll } = keysOf(project);
  const token = `${pod}/${randomText(12)}`;
  return orUnavailable(async (): Promise<ClaimedPoll> => {
    const answer = await conn.script(
      CLAIM,
      [meta, poll(workflowUid)],
      [pod, token, LEASE_MS, onlyWorking ? '1' : '0', aheadMs],
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

/** `fenced`: another pod has the claim; the caller must stop. */
export type PollStep = { outcome: 'done' } | { outcome: 'fenced' } | Unavailable;

/** Renews the claim for ten seconds. */
export function renewPoll(conn: RunStoreConnection, ref: PollRef): Promise<PollStep> {
  return pollStep(() => conn.script(RENEW, keysOfPoll(ref), [ref.token, LEASE_MS]));
}

/** Releases the claim; the trigger stays due. */
export function releasePoll(conn: RunStoreConnection, ref: PollRef): Promise<PollStep> {
  return pollStep(() => conn.script(RELEASE, keysOfPoll(ref), [ref.token]));
}

/** The keys `meta` and `poll` of the trigger. */
export function keysOfPoll({ project, workflowUid }: PollRef): string[] {
  const { meta, poll } = keysOf(project);
  return [meta, poll(workflowUid)];
}

/** Calls a script that answers `done` or `fenced`. */
export function pollStep(call: () => Promise<unknown>): Promise<PollStep> {
  return orUnavailable(async () => ({ outcome: (await call()) === 'fenced' ? 'fenced' : 'done' }));
}
