/**
 * Takes over the runs of dead runners. A runner is dead when its heartbeat has stopped for 20 s of this
 * process's own monotonic clock while this process could write to the store; no other machine's clock is
 * compared. A runner that is alive after all finds its claims gone and can do nothing more with them.
 */
import { FAILURES } from '../api/reasons.ts';
import type { Log } from '../kube/log.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW } from '../store/lua.ts';
import { argumentsOf, defineScript } from '../store/script.ts';
import { END, END_ARGS, END_KEYS, END_TRANSITIONS, endArgs } from './end.ts';
import { claimsOf, REQUEUE } from './handback.ts';
import { ENQUEUE, EVENTS, FENCE, MISSING_RUN } from './lua.ts';
import { createPollingPace, type Pace } from './pace.ts';
import { readSubject } from './read.ts';
import { scriptKeys } from './scriptKeys.ts';
import { holderOf } from './claimToken.ts';
import type { RunEnd } from './types/result.ts';

/** A run fails with its third crash without progress. */
const CRASH_LIMIT = 3;

const END_OF_POISON: RunEnd = { phase: 'Failed', reason: 'Poison', message: FAILURES.Poison.meaning };

const TAKE_OVER = defineScript({
  flags: 'drains',
  transitions: ['claimed > ready', 'claimed > ended', 'claimed > none', ...END_TRANSITIONS],
  keys: [...END_KEYS, 'heartbeats', 'runs'],
  args: ['run_id', 'token', 'runner', 'heartbeat', ...END_ARGS],
  answers: {
    ready: 'another runner may claim the run',
    poison: 'the run has failed',
    alive: 'the heartbeat has moved',
    fenced: 'the claim is another one',
  },
  body: `
    ${FENCE}
    if (redis.call('HGET', heartbeats, runner) or '') ~= heartbeat then return 'alive' end
    local accepted, sequence, crashes, progress, event_count, event_bytes, group = unpack(
      redis.call('HMGET', run, 'accepted', 'sequence', 'crashes', 'progress', 'evcount', 'evbytes', 'wf'))
    if not group then
      ${MISSING_RUN}
      return fail_missing(run_id)
    end
    crashes = progress == '1' and 1 or tonumber(crashes or 0) + 1
    -- The crash is counted last: what found a key of a wrong type is done again, and the runner has crashed
    -- once.
    if crashes < ${CRASH_LIMIT} then
      ${REQUEUE}
      requeue(group, accepted)
      redis.call('HSET', run, 'crashes', crashes, 'progress', 0)
      return 'ready'
    end
    ${NOW}
    event_count, event_bytes = event_count or 0, event_bytes or 0
    ${EVENTS}
    ${ENQUEUE}
    ${END}
    end_run(group, true, accepted, tonumber(sequence or 0) + 1, 0)
    redis.call('HSET', run, 'crashes', crashes, 'progress', 0)
    redis.call('HDEL', claims, run_id)
    return 'poison'
  `,
});

/**
 * Reads all heartbeats and claims. Declared as a script that writes, although it does not: a server that
 * refuses writes (no replicas, a full disk) refuses it as it refuses heartbeats, so that no runner is taken
 * for dead only because it cannot write its heartbeat.
 */
const READ_HEARTBEATS = defineScript({
  flags: 'drains',
  keys: ['heartbeats', 'claims'],
  answers: 'runners and their heartbeats; all claim tokens',
  body: `return {redis.call('HGETALL', heartbeats), redis.call('HVALS', claims)}`,
});

/** Removes the heartbeat of a dead runner that has no claims any more. */
const FORGET_RUNNER = defineScript({
  flags: 'drains',
  keys: ['heartbeats'],
  args: ['runner', 'heartbeat'],
  answers: '1 where it was removed',
  body: `
    if (redis.call('HGET', heartbeats, runner) or '') ~= heartbeat then return 0 end
    return redis.call('HDEL', heartbeats, runner)
  `,
});

export type TakenOver = 'ready' | 'poison' | 'alive' | 'fenced';

/**
 * Takes over one claim of a runner whose heartbeat is still `heartbeat`. The third crash in a row ends the
 * run.
 */
export function takeOver(
  conn: RunStoreConnection,
  claim: { project: ProjectUid; run: string; token: string; runner: string; heartbeat: string },
): Promise<TakenOver | Unavailable> {
  return orUnavailable(async () => {
    const { run, token, runner, heartbeat } = claim;
    const args = argumentsOf(TAKE_OVER, { run_id: run, token, runner, heartbeat, ...endArgs(END_OF_POISON) });
    const subject = await readSubject(conn, claim.project, run);
    const keys = scriptKeys(TAKE_OVER, { ...claim, parent: subject?.parent });
    return (await conn.script(TAKE_OVER, keys, args)) as TakenOver;
  });
}

export type TakeoverOptions = {
  conn: RunStoreConnection;
  project: ProjectUid;
  runner: string;
  log?: Log;
  /** How long a heartbeat stops before its runner is dead; default 20,000 ms. */
  deadAfterMs?: number;
  /** Between two reads of the heartbeats of a busy runner; default 2,000 ms. */
  everyMs?: number;
  /** Default: that of a busy runner. */
  pace?: Pace;
  /** For how many more milliseconds nobody counts as dead. Default: always 0. */
  pausedMs?: () => number;
};

/**
 * How many intervals pass between two reads where this runner is idle and nobody has a claim: nothing depends
 * on the heartbeat of a dead runner.
 */
const IDLE_FACTOR = 5;

/** Watches the heartbeats of the other runners until the signal is aborted, and takes over from dead ones. */
export function createTakeover(options: TakeoverOptions): { run(signal: AbortSignal): Promise<void> } {
  const { deadAfterMs = 20_000, everyMs = 2_000, pace = createPollingPace(), pausedMs = () => 0 } = options;
  const watch = createHeartbeatWatch(everyMs * 2);
  const check = async (): Promise<number> => {
    const heartbeats = pausedMs() > 0 ? undefined : await readHeartbeats(options);
    if (heartbeats === undefined || isUnavailable(heartbeats)) {
      watch.interrupted();
      return Math.max(everyMs, pausedMs());
    }
    heartbeats.delete(options.runner);
    for (const [runner, heartbeat] of watch.deadRunners(heartbeats, deadAfterMs, performance.now()))
      await takeOverAll(options, runner, heartbeat);
    return heartbeats.size === 0 ? Infinity : everyMs * IDLE_FACTOR;
  };
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const nextMs = await check();
        await pace.wait({ busyMs: everyMs, nextMs }, signal);
      }
    },
  };
}

/** The heartbeats of all runners; an empty one for a runner that has a claim and no heartbeat. */
function readHeartbeats({ conn, project }: TakeoverOptions): Promise<Map<string, string> | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    const [counters, tokens] = (await conn.script(READ_HEARTBEATS, [keys.heartbeats, keys.claims], [])) as [
      counters: string[],
      tokens: string[],
    ];
    const heartbeats = new Map(tokens.map((token) => [holderOf(token), '']));
    for (let at = 0; at < counters.length; at += 2)
      heartbeats.set(counters[at] ?? '', counters[at + 1] ?? '');
    return heartbeats;
  });
}

async function takeOverAll(
  { conn, project, log }: TakeoverOptions,
  runner: string,
  heartbeat: string,
): Promise<void> {
  const outcome = await orUnavailable(async () => {
    let damaged: Unavailable | undefined;
    for (const [run, token] of await claimsOf(conn, project, runner)) {
      const taken = await takeOver(conn, { project, run, token, runner, heartbeat });
      if (isUnavailable(taken)) {
        // A run whose key is of a wrong type must not keep the others from continuing.
        if (taken.why !== 'damaged') return taken;
        damaged = taken;
      } else if (taken === 'alive') return taken;
      else if (taken !== 'fenced') log?.warn({ run, runner, outcome: taken }, 'took over run of dead runner');
    }
    if (damaged) return damaged;
    await conn.script(FORGET_RUNNER, [keysOf(project).heartbeats], [runner, heartbeat]);
    return 'done' as const;
  });
  if (outcome === 'alive') log?.warn({ runner }, 'runner is alive again');
}

type Watched = { heartbeat: string; stoppedMs: number };

/**
 * Measures for how long each heartbeat has stopped. Time counts between two reads that both reached the
 * store, and never more than `longestMs` between them: this process may have been suspended, and the store
 * with it.
 */
export function createHeartbeatWatch(longestMs: number) {
  let watched = new Map<string, Watched>();
  let last: number | undefined;
  return {
    /** Takes the heartbeats that were read, and answers the dead runners with theirs. */
    deadRunners(
      heartbeats: ReadonlyMap<string, string>,
      deadAfterMs: number,
      now: number,
    ): [runner: string, heartbeat: string][] {
      const passed = last === undefined ? 0 : Math.min(now - last, longestMs);
      last = now;
      const next = new Map<string, Watched>();
      for (const [runner, heartbeat] of heartbeats) {
        const before = watched.get(runner);
        const stoppedMs = before?.heartbeat === heartbeat ? before.stoppedMs + passed : 0;
        next.set(runner, { heartbeat, stoppedMs });
      }
      watched = next;
      const dead = [...next].filter(([, { stoppedMs }]) => stoppedMs >= deadAfterMs);
      return dead.map(([runner, { heartbeat }]) => [runner, heartbeat]);
    },
    /** The store was not reached: no time counts until the next read. */
    interrupted(): void {
      last = undefined;
    },
  };
}
