/**
 * The polled triggers of a project, as the operator puts them into the run store: what pods look at, and nothing else. A
 * trigger that is dropped takes its claim and its cursor with it, so that whoever looks at it at that moment changes nothing any more.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { DROP_OTHERS } from './lua.ts';
import { defineScript } from '../script.ts';
import { NOW, REQUIRE_STORE, type Seeding } from '../lua.ts';

/** A trigger that is polled, and what its events start. */
export type PolledTrigger = {
  workflow: string;
  workflowUid: string;
  revision: string;
  kind: string;
  /** The fields of the trigger. */
  fields: unknown;
  intervalSeconds: number;
  /** Where it looks: a cursor of another place means nothing. */
  place: string;
  /** A wish to begin anew, which is granted once: `since` that time (RFC 3339), or now. */
  reset?: { value: string; since?: string };
  /** Another one whenever the account may work that did not. Pods do not get it. */
  access?: string;
};

/** What names a look in all further calls. */
export type PollRef = { project: ProjectUid; workflowUid: string; token: string };

/** What is known of a trigger whose run store was wiped: its cursor, or why there is none. */
export type KnownBaseline = { cursor: string } | { lost: string };

type Done = { outcome: 'done' } | Unavailable;

/** A look may come a little too soon, so that a pod need not wait for a moment: by a tenth, at most this long. */
const EARLY_MS = 5_000;

const PUT = defineScript({
  flags: 'drains',
  keys: ['meta', 'polls', 'poll'],
  args: ['uid', 'config', 'place', 'access', 'interval', 'early', 'seeding', 'field', 'known'],
  body: `
    if seeding == '' or redis.call('HGET', meta, 'seeding') ~= seeding then
      ${REQUIRE_STORE}
    end
    ${NOW}
    local before = redis.call('HMGET', poll, 'config', 'place', 'access', 'reason', 'token', 'asked')
    redis.call('SADD', polls, uid)
    redis.call('HSET', poll, 'config', config, 'place', place, 'access', access, 'interval', interval, 'early', early)
    -- Of another place nothing is known yet.
    if before[2] ~= place then redis.call('HDEL', poll, 'polled', 'reason', 'error') end
    -- Whoever changed it may have mended it. Another state of the account alone shortens no time that the other side asked for.
    local isMended = before[3] ~= access and before[4] and before[4] ~= 'RateLimited' and before[6] ~= '1'
    if before[1] ~= config or isMended then
      redis.call('HDEL', poll, 'at', 'notBefore', 'failures')
      redis.call('HSET', poll, 'put', now)
      if before[5] then redis.call('HSET', poll, 'changed', '1') end
    end
    if field ~= '' and redis.call('HEXISTS', poll, 'cursor') == 0 then
      redis.call('HSETNX', poll, field, known)
    end
    return 'done'
  `,
});

/**
 * Has pods look at the trigger from now on. One that was changed is due at once, also where a look is under way; so is one that failed
 * and has another `access`. With a `seeding` also before the project is open.
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
  const [field = '', value = ''] = Object.entries(known ?? {})[0] ?? [];
  return orUnavailable(async () => {
    await conn.script(
      PUT,
      [meta, polls, poll(workflowUid)],
      [
        workflowUid,
        JSON.stringify(trigger),
        place,
        access,
        intervalMs,
        Math.min(intervalMs / 10, EARLY_MS),
        seeding?.token ?? '',
        field,
        value,
      ],
    );
    return { outcome: 'done' };
  });
}

const DROP = defineScript({
  flags: 'drains',
  keys: ['meta', 'polls', 'poll', 'kept'],
  args: ['uid'],
  body: `
    redis.call('SREM', polls, uid)
    local memory
    ${DROP_OTHERS}
    return redis.call('UNLINK', poll)
  `,
});

/** Nobody looks at the trigger any more; its cursor and what it remembers are forgotten. */
export function dropTrigger(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<Done> {
  const { meta, polls, poll, kept } = keysOf(project);
  return orUnavailable(async () => {
    await conn.script(DROP, [meta, polls, poll(workflowUid), kept(workflowUid)], [workflowUid]);
    return { outcome: 'done' };
  });
}

/** The workflows of the project whose trigger is polled, by uid. */
export function listTriggers(conn: RunStoreConnection, project: ProjectUid): Promise<string[] | Unavailable> {
  return orUnavailable(async () => (await conn.command('smembers', keysOf(project).polls)) as string[]);
}
