/**
 * Takes over what dead runners held. A runner is dead when its beat has stood still for 20 s of this process's own monotonic
 * clock while this process could write to the store; no other machine's clock is compared. A runner that is alive after all
 * finds its claims gone and can do nothing more with them.
 */
import { FAILURES } from '../api/reasons.ts';
import type { Log } from '../kube/log.ts';
import { sleep } from '../kube/clock.ts';
import { endArgs, transitionKeys } from './advance.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { claimsOf, REQUEUE } from './handback.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { EMIT, END, END_KEYS, ENQUEUE, FENCE, VANISHED } from './lua.ts';
import { defineScript } from '../store/script.ts';
import { holderOf, groupOfToken } from './token.ts';
import type { RunEnd } from './types.ts';
import { NOW } from '../store/lua.ts';

/** The third crash without progress in between is the last. */
const CRASH_LIMIT = 3;

const END_OF_POISON: RunEnd = { phase: 'Failed', reason: 'Poison', message: FAILURES.Poison.meaning };

const TAKE_OVER = defineScript({
  flags: 'drains',
  keys: [...END_KEYS, 'claims', 'beats', 'runs'],
  args: ['run_id', 'token', 'runner', 'beat', 'phase', 'reason', 'message', 'end_event'],
  body: `
    ${FENCE}
    if (redis.call('HGET', beats, runner) or '') ~= beat then return 'alive' end
    local state = redis.call('HMGET', run, 'accepted', 'sequence', 'crashes', 'progress', 'evcount', 'evbytes', 'wf')
    ${VANISHED}
    if not state[7] then return vanished(run_id) end
    local crashes = 1
    if state[4] ~= '1' then
      crashes = tonumber(state[3] or 0) + 1
    end
    -- Counted last: what found a key of a wrong type is done again, and a run has died once all the same.
    if crashes < ${CRASH_LIMIT} then
      ${REQUEUE}
      requeue()
      redis.call('HSET', run, 'crashes', crashes, 'progress', 0)
      return 'ready'
    end
    ${NOW}
    local event_count, event_bytes = state[5] or 0, state[6] or 0
    ${EMIT}
    ${ENQUEUE}
    ${END}
    finish(state[7], true, state[1], tonumber(state[2] or 0) + 1, 0, {phase, reason, message, end_event})
    redis.call('HSET', run, 'crashes', crashes, 'progress', 0)
    redis.call('HDEL', claims, run_id)
    return 'poison'
  `,
});

/**
 * Reads all beats and claims. Declared as a script that writes, although it does not: a server that refuses writes (no replicas, a full
 * disk) refuses it as it refuses beats, so that nobody is taken for dead who only cannot beat.
 */
const READ_BEATS = defineScript({
  flags: 'drains',
  keys: ['beats', 'claims'],
  body: `return {redis.call('HGETALL', beats), redis.call('HVALS', claims)}`,
});

/** Forgets a dead runner that holds nothing any more. */
const FORGET = defineScript({
  flags: 'drains',
  keys: ['beats'],
  args: ['runner', 'beat'],
  body: `
    if (redis.call('HGET', beats, runner) or '') ~= beat then return 0 end
    return redis.call('HDEL', beats, runner)
  `,
});

export type TakenOver = 'ready' | 'poison' | 'alive' | 'fenced';

/** Takes over one claim of a runner whose beat still stands at `beat`; the third crash in a row ends the run. */
export function takeOver(
  conn: RunStoreConnection,
  claim: { project: ProjectUid; run: string; token: string; runner: string; beat: string },
): Promise<TakenOver | Unavailable> {
  return orUnavailable(async () => {
    const answer = await conn.script(
      TAKE_OVER,
      transitionKeys(TAKE_OVER, { ...claim, group: groupOfToken(claim.token) }),
      [claim.run, claim.token, claim.runner, claim.beat, ...endArgs(END_OF_POISON)],
    );
    return answer as TakenOver;
  });
}

export type TakeoverOptions = {
  conn: RunStoreConnection;
  project: ProjectUid;
  runner: string;
  log?: Log;
  /** How long a beat stands still before its runner is dead; default 20,000 ms. */
  deadAfterMs?: number;
  /** Between two looks; default 2,000 ms. */
  everyMs?: number;
};

/** Watches the beats of the other runners until the signal is aborted, and takes over from those that are dead. */
export function createTakeover(options: TakeoverOptions): { run(signal: AbortSignal): Promise<void> } {
  const { deadAfterMs = 20_000, everyMs = 2_000 } = options;
  const watch = createBeatWatch(everyMs * 2);
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const beats = await readBeats(options);
        if (isUnavailable(beats)) watch.interrupted();
        else {
          beats.delete(options.runner);
          for (const [runner, beat] of watch.seen(beats, deadAfterMs, performance.now()))
            await takeAll(options, runner, beat);
        }
        await sleep(everyMs, signal);
      }
    },
  };
}

/** The beats of all runners, and an empty one for each that holds a run and has none. */
function readBeats({ conn, project }: TakeoverOptions): Promise<Map<string, string> | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    const [beats, claims] = (await conn.script(READ_BEATS, [keys.beats, keys.claims], [])) as [
      beats: string[],
      claims: string[],
    ];
    const all = new Map(claims.map((token) => [holderOf(token), '']));
    for (let index = 0; index < beats.length; index += 2) all.set(beats[index] ?? '', beats[index + 1] ?? '');
    return all;
  });
}

async function takeAll({ conn, project, log }: TakeoverOptions, runner: string, beat: string): Promise<void> {
  const outcome = await orUnavailable(async () => {
    const claims = await claimsOf(conn, project, runner);
    for (const [run, token] of claims) {
      const taken = await takeOver(conn, { project, run, token, runner, beat });
      if (isUnavailable(taken) || taken === 'alive') return taken;
      if (taken !== 'fenced') log?.warn({ run, runner, outcome: taken }, 'run taken over from a dead runner');
    }
    await conn.script(FORGET, [keysOf(project).beats], [runner, beat]);
    return 'done' as const;
  });
  if (outcome === 'alive') log?.warn({ runner }, 'a runner that seemed dead beats again');
}

type Watched = { beat: string; stillMs: number };

/**
 * Remembers for how long each beat has stood still. Time counts between two looks that both reached the store, and never
 * more than `longestMs` between them: this process may have been suspended, and the store with it.
 */
export function createBeatWatch(longestMs: number) {
  let watched = new Map<string, Watched>();
  let last: number | undefined;
  return {
    /** Takes note of a look, and answers with the runners that are dead. */
    seen(
      beats: ReadonlyMap<string, string>,
      deadAfterMs: number,
      now: number,
    ): [runner: string, beat: string][] {
      const passed = last === undefined ? 0 : Math.min(now - last, longestMs);
      last = now;
      const next = new Map<string, Watched>();
      for (const [runner, beat] of beats) {
        const before = watched.get(runner);
        const still = before?.beat === beat ? before.stillMs + passed : 0;
        next.set(runner, { beat, stillMs: still });
      }
      watched = next;
      return [...next].filter(([, it]) => it.stillMs >= deadAfterMs).map(([runner, it]) => [runner, it.beat]);
    },
    /** The store was not reached: until the next look no time counts. */
    interrupted(): void {
      last = undefined;
    },
  };
}
