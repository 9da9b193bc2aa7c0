/**
 * The polled triggers of a project, as the operator stores them. Runners and poll pods poll these and no
 * others. A trigger that becomes due at once is announced, and counted for those who miss the message.
 * Dropping a trigger removes its claim and its cursor, so that a poll in progress changes nothing any more.
 */
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { NOW, REQUIRE_STORE_OR_SEEDING, type Seeding } from '../lua.ts';
import { argumentsOf, defineScript } from '../script.ts';
import { DROP_OTHER_ITEMS } from './lua.ts';

/** A trigger that is polled, and the workflow that its events start. */
export type PolledTrigger = {
  workflow: string;
  workflowUid: string;
  revision: string;
  kind: string;
  /** The fields of the trigger. */
  fields: unknown;
  intervalSeconds: number;
  /** Identifies the polled place: a cursor of another place is invalid. */
  place: string;
  /** A request to reset the cursor, which is done once: to the time `since` (RFC 3339), or to now. */
  reset?: { value: string; since?: string };
  /** Changes when a failing account may have recovered. Pods do not get it. */
  access?: string;
};

/** Identifies a claimed poll in all further calls. */
export type PollRef = { project: ProjectUid; workflowUid: string; token: string };

/** The cursor of a trigger whose run store was wiped, or why there is none. */
export type KnownBaseline = { cursor: string } | { lost: string };

/**
 * A poll may begin early by a tenth of the interval, at most this long, so that a pod need not wait for a
 * moment.
 */
const EARLY_MS = 5_000;

const PUT = defineScript({
  flags: 'drains',
  keys: ['meta', 'polls', 'poll'],
  // `known_field`, `known_value`: the `KnownBaseline`.
  args: ['uid', 'config', 'place', 'access', 'interval', 'early', 'seeding', 'known_field', 'known_value'],
  answers: { done: 'the trigger is polled' },
  body: `
    ${REQUIRE_STORE_OR_SEEDING}
    ${NOW}
    local config_before, place_before, access_before, reason, token, asked = unpack(
      redis.call('HMGET', poll, 'config', 'place', 'access', 'reason', 'token', 'asked'))
    redis.call('SADD', polls, uid)
    redis.call('HSET', poll, 'config', config, 'place', place, 'access', access, 'interval', interval, 'early', early)
    -- Nothing is known of another place.
    if place_before ~= place then redis.call('HDEL', poll, 'polled', 'reason', 'error') end
    -- The change may have fixed the failure. A change of the account alone shortens no time that the provider
    -- asked for.
    local may_be_fixed = access_before ~= access and reason and reason ~= 'RateLimited' and asked ~= '1'
    if config_before ~= config or may_be_fixed then
      redis.call('HINCRBY', meta, config_before ~= config and 'pollsPut' or 'pollsFixed', 1)
      redis.call('PUBLISH', polls, uid)
      redis.call('HDEL', poll, 'at', 'notBefore', 'failures')
      redis.call('HSET', poll, 'put', now)
      if token then redis.call('HSET', poll, 'changed', '1') end
    end
    if known_field ~= '' and redis.call('HEXISTS', poll, 'cursor') == 0 then
      redis.call('HSETNX', poll, known_field, known_value)
    end
    return 'done'
  `,
});

/**
 * Adds or changes a polled trigger. A changed trigger is due at once, also while a poll is in progress; so is
 * one that failed and has another `access`. With a `seeding` also before the project is open.
 */
export function putTrigger(
  conn: RunStoreConnection,
  project: ProjectUid,
  { access = '', ...trigger }: PolledTrigger,
  { seeding, known }: { seeding?: Seeding | undefined; known?: KnownBaseline | undefined } = {},
): Promise<Done> {
  const { meta, polls, poll } = keysOf(project);
  const { workflowUid, intervalSeconds, place } = trigger;
  const intervalMs = intervalSeconds * 1_000;
  const [baseline] = Object.entries(known ?? {});
  return doneOrUnavailable(async () => {
    const args = argumentsOf(PUT, {
      uid: workflowUid,
      config: JSON.stringify(trigger),
      place,
      access,
      interval: intervalMs,
      early: Math.min(intervalMs / 10, EARLY_MS),
      seeding: seeding?.token ?? '',
      known_field: baseline?.[0] ?? '',
      known_value: baseline?.[1] ?? '',
    });
    await conn.script(PUT, [meta, polls, poll(workflowUid)], args);
  });
}

const DROP = defineScript({
  flags: 'drains',
  keys: ['meta', 'polls', 'poll', 'knownItems'],
  args: ['uid'],
  answers: '1 where there was such a trigger',
  body: `
    redis.call('SREM', polls, uid)
    local in_force
    ${DROP_OTHER_ITEMS}
    return redis.call('UNLINK', poll)
  `,
});

/** Removes a polled trigger with its cursor and known items. */
export function dropTrigger(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<Done> {
  const { meta, polls, poll, knownItems } = keysOf(project);
  return doneOrUnavailable(() =>
    conn.script(DROP, [meta, polls, poll(workflowUid), knownItems(workflowUid)], [workflowUid]),
  );
}

/** The workflows of the project whose trigger is polled, by uid. */
export function listTriggers(conn: RunStoreConnection, project: ProjectUid): Promise<string[] | Unavailable> {
  return orUnavailable(async () => (await conn.command('smembers', keysOf(project).polls)) as string[]);
}
