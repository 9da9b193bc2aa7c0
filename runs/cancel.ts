/** Cancelling runs: at once where nobody holds them, otherwise by asking the runner that does, durably. */
import { FAILURES } from '../api/reasons.ts';
import type { TerminalPhase } from '../api/phase.ts';
import { endArgs, transitionKeys } from './advance.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { EMIT, END, END_KEYS, ENQUEUE } from './lua.ts';
import { defineScript } from '../store/script.ts';
import type { RunEnd } from './types.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';

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
  keys: [...END_KEYS, 'claims', 'due'],
  args: ['run_id', 'phase', 'reason', 'message', 'end_event'],
  body: `
    ${REQUIRE_STORE}
    local state = redis.call('HMGET', run, 'phase', 'wf', 'accepted', 'sequence', 'ended', 'evcount', 'evbytes')
    if not state[1] then return 'absent' end
    if state[5] then return state[1] end
    if redis.call('HEXISTS', claims, run_id) == 1 then
      redis.call('SADD', cancels, run_id)
      redis.call('PUBLISH', cancels, run_id)
      return 'requested'
    end
    ${NOW}
    local event_count, event_bytes = state[6] or 0, state[7] or 0
    ${EMIT}
    ${ENQUEUE}
    ${END}
    local entry = state[2] .. ' ' .. state[3] .. ' ' .. run_id
    local ready = redis.call('ZSCORE', q, entry)
    redis.call('ZREM', held, entry)
    redis.call('ZREM', due, entry)
    finish(state[2], ready, state[3], tonumber(state[4] or 0) + 1, 0, {phase, reason, message, end_event})
    redis.call('ZREM', q, entry)
    return 'cancelled'
  `,
});

/**
 * Cancels a run. One that nobody holds ends at once (`cancelled`); one that a runner holds is `requested` to end: the
 * runner hears of it, and so does the next one if that runner dies.
 */
export function cancelRun(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<Cancelled> {
  return orUnavailable(async () => {
    const group = await conn.command('hget', keysOf(project).run(run), 'wf');
    if (typeof group !== 'string') return { outcome: 'absent' };
    const answer = (await conn.script(CANCEL, transitionKeys(CANCEL, { project, run, group }), [
      run,
      ...endArgs(END_OF_CANCELLED),
    ])) as 'absent' | 'requested' | 'cancelled' | TerminalPhase;
    if (answer === 'absent' || answer === 'requested' || answer === 'cancelled') return { outcome: answer };
    return { outcome: 'ended', phase: answer };
  });
}

/** How long a lost message can delay a cancellation. */
const POLL_MS = 1_000;

/** Calls `onCancel` with each run that shall be cancelled: when it is asked for, and each second as long as it is. */
export function watchCancels(
  conn: RunStoreConnection,
  project: ProjectUid,
  onCancel: (run: string) => void,
): { stop(): void } {
  const key = keysOf(project).cancels;
  const look = () => {
    conn
      .command('smembers', key)
      .then((runs) => (runs as string[]).forEach(onCancel))
      // The next look is due in a second; the connection's own log says that it is away.
      .catch(() => undefined);
  };
  const timer = setInterval(look, POLL_MS);
  const subscription = conn
    .subscriber()
    .subscribe(key, (run) => (run === undefined ? look() : onCancel(run)));
  return {
    stop: () => {
      clearInterval(timer);
      void subscription.then((it) => it.end());
    },
  };
}
