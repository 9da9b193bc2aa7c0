/** Cancels runs: at once where no runner holds them, otherwise by a durable request to the runner. */
import type { TerminalPhase } from '../api/phase.ts';
import { FAILURES } from '../api/reasons.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineScript } from '../store/script.ts';
import { END, END_ARGS, END_KEYS, END_TRANSITIONS, endArgs } from './end.ts';
import { ENQUEUE, EVENTS } from './lua.ts';
import { createPollingPace, type Pace } from './pace.ts';
import { scriptKeys } from './scriptKeys.ts';
import { readSubject } from './read.ts';
import type { RunEnd } from './types/result.ts';

export type Cancelled =
  | { outcome: 'cancelled' }
  | { outcome: 'requested' }
  | { outcome: 'ended'; phase: TerminalPhase }
  | { outcome: 'absent' }
  | Unavailable;

const END_OF_CANCELLED: RunEnd = {
  phase: 'Cancelled',
  reason: 'Cancelled',
  message: FAILURES.Cancelled.meaning,
};

const CANCEL = defineScript({
  flags: 'drains',
  transitions: ['ready > ended', 'overLimit > ended', 'parked > ended', ...END_TRANSITIONS],
  keys: [...END_KEYS],
  args: ['run_id', ...END_ARGS],
  answers: {
    absent: 'there is no such run',
    requested: 'the runner that holds the run shall end it',
    cancelled: 'the run has ended now',
    'a phase': 'the run ended before',
  },
  body: `
    ${REQUIRE_STORE}
    local state, group, accepted, sequence, ended, event_count, event_bytes = unpack(
      redis.call('HMGET', run, 'phase', 'wf', 'accepted', 'sequence', 'ended', 'evcount', 'evbytes'))
    if not state then return 'absent' end
    if ended then return state end
    if redis.call('HEXISTS', claims, run_id) == 1 then
      redis.call('SADD', cancels, run_id)
      redis.call('PUBLISH', cancels, run_id)
      return 'requested'
    end
    ${NOW}
    event_count, event_bytes = event_count or 0, event_bytes or 0
    ${EVENTS}
    ${ENQUEUE}
    ${END}
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    local is_ready = redis.call('ZSCORE', ready, entry)
    redis.call('ZREM', overLimit, entry)
    redis.call('ZREM', parked, entry)
    end_run(group, is_ready, accepted, tonumber(sequence or 0) + 1, 0)
    redis.call('ZREM', ready, entry)
    redis.call('PUBLISH', unrecorded, run_id)
    return 'cancelled'
  `,
});

/**
 * Cancels a run. A run that no runner holds ends at once (`cancelled`). A run that a runner holds is
 * `requested` to end: the runner gets the request, and so does the next one if that runner dies. What is
 * answered is on all replicas that may be promoted.
 */
export function cancelRun(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<Cancelled> {
  return orUnavailable(async () => {
    const subject = await readSubject(conn, project, run);
    if (!subject) return { outcome: 'absent' };
    const args = argumentsOf(CANCEL, { run_id: run, ...endArgs(END_OF_CANCELLED) });
    const cancel = () => conn.script(CANCEL, scriptKeys(CANCEL, subject), args);
    const answer = (await conn.replicated(project, cancel)) as
      | 'absent'
      | 'requested'
      | 'cancelled'
      | TerminalPhase;
    if (answer === 'absent' || answer === 'requested' || answer === 'cancelled') return { outcome: answer };
    return { outcome: 'ended', phase: answer };
  });
}

/**
 * Ends a run whose cancel was requested and that no runner has claimed, such as a waiting child run whose
 * parent has ended. Every runner calls it for runs that it has not claimed itself.
 */
export function cancelUnclaimed(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<void> {
  const { claims, cancels } = keysOf(project);
  const work = orUnavailable(async () => {
    if ((await conn.command('hexists', claims, run)) === 1) return;
    const { outcome } = await cancelRun(conn, project, run);
    // Somebody removed the key of the run.
    if (outcome === 'absent' || outcome === 'ended') await conn.command('srem', cancels, run);
  });
  return work.then(() => undefined);
}

/** How long a lost message can delay a cancellation. */
const POLL_MS = 1_000;

/**
 * Calls `onCancel` with each run to cancel until the signal is aborted: when it is requested, and again until
 * it has ended, at its pace; each second by a busy runner.
 */
export async function watchCancels(
  conn: RunStoreConnection,
  project: ProjectUid,
  onCancel: (run: string) => void,
  { signal, pace = createPollingPace() }: { signal: AbortSignal; pace?: Pace },
): Promise<void> {
  const key = keysOf(project).cancels;
  const subscription = conn
    .subscriber()
    .subscribe(key, (run) => (run === undefined ? pace.raise() : onCancel(run)));
  try {
    while (!signal.aborted) {
      const runs = await orUnavailable(() => conn.command('smembers', key) as Promise<string[]>);
      const isAway = isUnavailable(runs);
      if (!isAway) runs.forEach(onCancel);
      await pace.wait({ busyMs: POLL_MS, ...(isAway && { nextMs: POLL_MS }) }, signal);
    }
  } finally {
    void subscription.then((it) => it.end());
  }
}
