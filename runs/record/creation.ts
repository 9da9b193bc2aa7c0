/**
 * The creation of a run's object, as the run store sees it: a run whose object may exist stays in the run
 * store until it is recorded.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import { randomText } from '../../store/random.ts';
import { defineScript } from '../../store/script.ts';
import type { RunState } from '../types/run.ts';

/** The value of `creating` where several attempts to create the object may have succeeded. */
const AMBIGUOUS = 'ambiguous';

/**
 * Once a second attempt begins while an earlier one may have succeeded, no attempt can tell any more that
 * there is no object.
 */
const BEGIN_CREATE = defineScript({
  flags: 'drains',
  keys: ['run'],
  args: ['attempt'],
  answers: '1 where the attempt has begun; 0 where the run is gone',
  body: `
    local state, dropped, creating = unpack(redis.call('HMGET', run, 'phase', 'dropped', 'creating'))
    if not state or dropped then return 0 end
    redis.call('HSET', run, 'creating', creating and '${AMBIGUOUS}' or attempt)
    return 1
  `,
});

const UNDO_CREATE = defineScript({
  flags: 'drains',
  keys: ['run'],
  args: ['attempt'],
  answers: '1 where the mark was removed; 0 where it is of another attempt',
  body: `
    if redis.call('HGET', run, 'creating') ~= attempt then return 0 end
    return redis.call('HDEL', run, 'creating')
  `,
});

const NOTE_OBJECT = defineScript({
  flags: 'drains',
  keys: ['run'],
  args: ['uid'],
  answers: '1 where the field is new',
  body: `
    if redis.call('EXISTS', run) == 0 then return 0 end
    return redis.call('HSET', run, 'recorded', uid)
  `,
});

/** One attempt to create the object of a run. */
export type CreateAttempt = string;

/** Marks the run, so that it stays in the run store until it is recorded. Undefined: the run is gone. */
export async function beginCreate(
  conn: RunStoreConnection,
  { project, run }: RunState,
): Promise<CreateAttempt | undefined> {
  const attempt = randomText(16);
  const begun = await orUnavailable(() => conn.script(BEGIN_CREATE, [keysOf(project).run(run)], [attempt]));
  return begun === 1 ? attempt : undefined;
}

/**
 * Removes the mark after an attempt that certainly created no object, and answers whether it was there. The
 * mark of an earlier attempt stays: that attempt may have created the object without an answer. Where the
 * run store is unavailable, the run stays in it until it is recorded.
 */
export function undoCreate(
  conn: RunStoreConnection,
  { project, run }: RunState,
  attempt: CreateAttempt,
): Promise<boolean | Unavailable> {
  return orUnavailable(
    async () => (await conn.script(UNDO_CREATE, [keysOf(project).run(run)], [attempt])) === 1,
  );
}

/** Stores the object that the run is recorded in: no other one is created any more. */
export function noteObject(
  conn: RunStoreConnection,
  { project, run }: RunState,
  uid: string,
): Promise<unknown> {
  return orUnavailable(() => conn.script(NOTE_OBJECT, [keysOf(project).run(run)], [uid]));
}
