/** Whether a project has work for a runner, for the operator, which lets its runners sleep. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { defineScript } from '../store/script.ts';
import { DUE_IN, UNSEEN_POLLS } from './pulse.ts';

/** What runners of a project have to do. */
export type Work = {
  /**
   * Runs are ready or claimed, or are to be cancelled, recorded or reported, or a polled trigger was added or
   * changed.
   */
  isPending: boolean;
  /** The operator waits for an answer of runners. */
  isAsked: boolean;
  /** In how many milliseconds a parked run is due; undefined where none is. */
  dueMs: number | undefined;
  /** Memories of agents have expired, or take too much room. */
  hasExpired: boolean;
  /** Changes when runs are claimed or end. Only whether it is the same text has a meaning. */
  activity: string;
};

const PENDING = ['ready', 'claims', 'cancels', 'failures', 'unrecorded'] as const;
const ASKED = ['checks', 'registrations'] as const;
/** Lists that hold work for runners, or requests to them. */
export const WORK_LISTS = [...PENDING, ...ASKED] as const;

/**
 * All at one moment: what becomes ready later is announced to those who listen. It keeps the clock of the
 * project, because no program else may call for one that sleeps.
 */
const READ_WORK = defineScript({
  flags: 'drains',
  keys: ['meta', ...WORK_LISTS, 'parked', 'memoryExpiry'],
  answers:
    'how many lists of work are not empty; how many lists of requests; milliseconds until parked runs and memories are due, or -1; a text that changes when runs are claimed or end',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    ${DUE_IN}
    ${UNSEEN_POLLS}
    local pending = redis.call('EXISTS', ${PENDING.join(', ')}) + (has_unseen_polls and 1 or 0)
    local asked = redis.call('EXISTS', ${ASKED.join(', ')})
    local claimed, minute, ends = unpack(redis.call('HMGET', meta, 'claimed', 'minute', 'ends'))
    local activity = (claimed or '') .. ' ' .. (minute or '') .. ' ' .. (ends or '')
    return {pending, asked, due_in(parked), memories_in(), activity}
  `,
});

/** Reads the work of a project. */
export function readWork(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<({ outcome: 'read' } & Work) | Unavailable> {
  const keys = keysOf(project);
  const lists = WORK_LISTS.map((name) => keys[name]);
  return orUnavailable(async () => {
    const answer = await conn.script(READ_WORK, [keys.meta, ...lists, keys.parked, keys.memoryExpiry], []);
    const [pending, asked, parked, memories, activity] = answer as [number, number, number, number, string];
    return {
      outcome: 'read',
      isPending: pending > 0,
      isAsked: asked > 0,
      dueMs: parked < 0 ? undefined : parked,
      hasExpired: memories === 0,
      activity,
    };
  });
}

/** What is announced when it has work. */
const ANNOUNCED = [...PENDING.filter((name) => name !== 'claims'), ...ASKED, 'polls'] as const;

/**
 * Calls `onWork` when there may be work in the project: what runners would be told. A message may be lost.
 * `end` unsubscribes.
 */
export function watchWork(
  conn: RunStoreConnection,
  project: ProjectUid,
  onWork: () => void,
): { end(): void } {
  const keys = keysOf(project);
  const subscriptions = ANNOUNCED.map((name) => conn.subscriber().subscribe(keys[name], onWork));
  return { end: () => subscriptions.forEach((each) => void each.then((it) => it.end())) };
}
