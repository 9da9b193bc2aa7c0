/**
 * The pulse of a runner: its heartbeat, and what there is to do in the project. It is the only call that an
 * idle runner repeats. Messages say most of it earlier, and may be lost.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW } from '../store/lua.ts';
import { defineFragment, defineScript } from '../store/script.ts';
import { MEMORY_PART } from './memory.ts';

/** Times are in how many milliseconds there is work, 0 for now; undefined where there is none. */
export type Pulse = {
  /** Runners with a heartbeat, this one included. */
  runners: number;
  /** Runs wait for a runner. */
  hasReady: boolean;
  /** Any runner has a claim. */
  hasClaims: boolean;
  hasCancels: boolean;
  hasFailures: boolean;
  /** Triggers are polled, or one was changed that no runner has seen. */
  hasPolls: boolean;
  memoriesMs: number | undefined;
  checksMs: number | undefined;
  registrationsMs: number | undefined;
  parkedMs: number | undefined;
  unrecordedMs: number | undefined;
};

/**
 * `due_in(key)`: milliseconds until the first entry of a sorted set is due, or -1 without one.
 * `memories_in()`: until memories are to be removed. A damaged key counts as due.
 */
export const DUE_IN = defineFragment({
  needs: ['meta', 'memoryExpiry', 'now'],
  gives: ['due_in', 'memories_in'],
  lua: `
local function due_in(key)
  local found = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
  if found.err then return 0 end
  local _, at = unpack(found)
  return at and math.max(0, at - now) or -1
end
local function memories_in()
  local taken, quota = unpack(redis.call('HMGET', meta, 'memory', 'quota'))
  if (tonumber(taken) or 0) > (tonumber(quota) or math.huge) * ${MEMORY_PART} then return 0 end
  return due_in(memoryExpiry)
end
`,
});

/** `has_unseen_polls`: a polled trigger was added or changed since a runner read the triggers. */
export const UNSEEN_POLLS = defineFragment({
  needs: ['meta'],
  gives: ['has_unseen_polls'],
  lua: `
local polls_put, polls_seen = unpack(redis.call('HMGET', meta, 'pollsPut', 'pollsSeen'))
local has_unseen_polls = polls_put and polls_put ~= polls_seen
`,
});

/**
 * Reads keys of any type: a key that somebody damaged must not stop the heartbeat. It counts as work, so that
 * the loop that reads it reports the damage. The first heartbeat of a runner is announced: the runner that
 * was alone until then must show that it is alive more often.
 */
const PULSE = defineScript({
  flags: 'drains',
  keys: [
    'meta',
    'heartbeats',
    'ready',
    'claims',
    'cancels',
    'failures',
    'memoryExpiry',
    'checks',
    'registrations',
    'parked',
    'unrecorded',
    'polls',
  ],
  args: ['runner'],
  answers:
    'the heartbeat; how many runners have one; whether runs are ready, claimed, to be cancelled and to be reported, and whether triggers are polled; milliseconds until memories, checks, registrations, parked runs and records are due, or -1',
  body: `
    local beat = redis.call('HINCRBY', heartbeats, runner, 1)
    if beat == 1 then redis.call('PUBLISH', heartbeats, runner) end
    ${NOW}
    ${DUE_IN}
    ${UNSEEN_POLLS}
    local has_polls = has_unseen_polls and 1 or redis.call('EXISTS', polls)
    return {
      beat, #redis.call('HKEYS', heartbeats), redis.call('EXISTS', ready), redis.call('EXISTS', claims),
      redis.call('EXISTS', cancels), redis.call('EXISTS', failures), has_polls, memories_in(),
      due_in(checks), due_in(registrations), due_in(parked), due_in(unrecorded),
    }
  `,
});

type Answer = [
  beat: number,
  runners: number,
  ready: number,
  claims: number,
  cancels: number,
  failures: number,
  polls: number,
  memories: number,
  checks: number,
  registrations: number,
  parked: number,
  unrecorded: number,
];

/** Sends one heartbeat, and answers its number and what there is to do in the project. */
export function sendPulse(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<{ outcome: 'sent'; heartbeat: number; pulse: Pulse } | Unavailable> {
  const keys = keysOf(project);
  const names = PULSE.keys.map((name) => keys[name as 'meta']);
  return orUnavailable(async () => {
    const answer = (await conn.script(PULSE, names, [runner])) as Answer;
    const [heartbeat, runners, ready, claims, cancels, failures, polls, ...times] = answer;
    const [memoriesMs, checksMs, registrationsMs, parkedMs, unrecordedMs] = times.map((ms) =>
      ms < 0 ? undefined : ms,
    );
    return {
      outcome: 'sent',
      heartbeat,
      pulse: {
        runners,
        hasReady: ready === 1,
        hasClaims: claims === 1,
        hasCancels: cancels === 1,
        hasFailures: failures === 1,
        hasPolls: polls === 1,
        memoriesMs,
        checksMs,
        registrationsMs,
        parkedMs,
        unrecordedMs,
      },
    };
  });
}

/** Removes the heartbeat of a runner without claims. */
export async function removeHeartbeat(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<void> {
  await orUnavailable(() => conn.command('hdel', keysOf(project).heartbeats, runner));
}
