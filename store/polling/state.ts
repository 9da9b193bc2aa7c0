/** The state of a polled trigger, as conditions and metrics show it. */
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { READ_NOW } from '../lua.ts';
import { defineScript } from '../script.ts';

/** Times are milliseconds since 1970 by the project's clock. */
export type PollState = {
  cursor?: string;
  /** When the last successful poll began. */
  polledAt?: number;
  /** Why the last poll failed; left out where it succeeded. */
  failure?: { reason: string; message: string; inARow: number };
  /** When the next poll is due. */
  dueAt: number;
  /** From one poll to the next. */
  intervalMs: number;
  /**
   * How long no poll has succeeded, beyond the interval; before the first success, since the trigger was
   * added or changed.
   */
  lateMs: number;
  /** The project's clock when the state was read. */
  now: number;
  /** Why the cursor was dropped, until `clearLost`. */
  lost?: string;
};

/** The fields of `poll` that the state is read from, in the order of the answer. */
const FIELDS = [
  'put',
  'interval',
  'cursor',
  'at',
  'polled',
  'failures',
  'notBefore',
  'reason',
  'error',
  'lost',
] as const;

const READ = defineScript({
  flags: 'reads',
  keys: ['meta', 'poll'],
  answers: 'the value of each field, or an empty text; then the time',
  body: `
    ${READ_NOW}
    local values = redis.call('HMGET', poll, ${FIELDS.map((name) => `'${name}'`).join(', ')})
    for index, value in ipairs(values) do values[index] = value or '' end
    values[#values + 1] = tostring(now)
    return values
  `,
});

/** The state of the trigger; undefined where it is not polled. */
export function readPoll(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<PollState | undefined | Unavailable> {
  return orUnavailable(async () => {
    const { meta, poll } = keysOf(project);
    const answer = (await conn.script(READ, [meta, poll(workflowUid)], [])) as string[];
    const [put, interval, cursor, at, polled, failures, notBefore, reason, message = '', lost, now] = answer;
    if (!put) return undefined;
    // Each page of a long poll is a success, although the poll has not ended.
    const began = Math.max(Number(at || put), Number(polled || 0));
    // Not later than now: the clock may have gone back.
    const due = Math.min(began, Number(now)) + (at ? Number(interval) : 0);
    const wanted = polled ? Number(polled) + Number(interval) : Number(put);
    return {
      ...(cursor && { cursor }),
      ...(polled && { polledAt: Number(polled) }),
      ...(reason && { failure: { reason, message, inARow: Number(failures || 1) } }),
      ...(lost && { lost }),
      dueAt: Math.max(due, Number(notBefore || 0)),
      intervalMs: Number(interval || 0),
      // A project may write invalid times here, which must not spoil the metrics of all triggers of the kind.
      lateMs: Number.isFinite(wanted) ? Math.max(0, Number(now) - wanted) : 0,
      now: Number(now),
    };
  });
}

const FORGET = defineScript({
  flags: 'drains',
  keys: ['poll'],
  args: ['lost'],
  answers: '1 where it was removed',
  body: `
    if redis.call('HGET', poll, 'lost') == lost then return redis.call('HDEL', poll, 'lost') end
    return 0
  `,
});

/** Removes `lost` once it was reported. */
export function clearLost(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  lost: string,
): Promise<Done> {
  return doneOrUnavailable(() => conn.script(FORGET, [keysOf(project).poll(workflowUid)], [lost]));
}
