/**
 * Requests of the operator to the runners of a project: one runner calls a provider, and the operator reads
 * the answer. A new request with another key invalidates the answer to the one before. All times are the
 * project's clock.
 */
import * as z from 'zod';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf, type ProjectKeys, type ProjectUid } from '../keys.ts';
import { NOW, READ_NOW, REQUIRE_STORE } from '../lua.ts';
import { defineScript } from '../script.ts';

/** The fields of every request. */
type Request = {
  /** Identifies the request: an answer to another key does not count. */
  key: string;
  /** Failures in a row before this request. */
  failures: number;
};

type Result = { works: boolean };

export type Answer<R> = { key: string; failures: number; result: R };

/** The state of a request in the run store. */
export type Seen<R> = {
  /** Milliseconds since 1970, as are all times here. */
  now: number;
  /** The request that no runner has answered yet. */
  waiting?: { key: string; askedAt: number };
  /** The last answer. */
  answer?: Answer<R> & { at: number };
};

/** A request that this runner has to answer. */
export type Taken<Q> = { uid: string; request: Q };

/** Requests of one kind. Each is about one credential, identified by its uid. */
export type Requests<Q, R> = {
  /** Sends a request to the project's runners. */
  ask(
    conn: RunStoreConnection,
    project: ProjectUid,
    uid: string,
    request: Q,
  ): Promise<{ outcome: 'asked' } | Unavailable>;
  /**
   * Reads the state of a request, for the operator, and keeps it for longer. The project's own account may
   * have written the answer: an invalid one reads as none.
   */
  read(conn: RunStoreConnection, project: ProjectUid, uid: string): Promise<Seen<R> | Unavailable>;
  /** Takes at most so many requests that no other runner has. */
  take(conn: RunStoreConnection, project: ProjectUid, most: number): Promise<Taken<Q>[] | Unavailable>;
  /** Stores the result, unless there is another request now. */
  answer(
    conn: RunStoreConnection,
    project: ProjectUid,
    taken: Taken<Q>,
    result: R,
  ): Promise<{ outcome: 'done' | 'superseded' } | Unavailable>;
  /** Calls `onAsked` whenever there may be a new request of the project. `end` unsubscribes. */
  follow(conn: RunStoreConnection, project: ProjectUid, onAsked: () => void): { end(): void };
};

/**
 * Longer than a day, which is the longest time between two requests about a credential in use while its
 * runners are awake. While they sleep there is none for any time, so that readings of the operator prolong
 * it, once a day: without its answer the operator would ask again, and wake them.
 */
const KEPT_S = 3 * 24 * 3_600;
const PROLONGED_BELOW_MS = 2 * 24 * 3_600_000;
/** How long a runner has a request to itself before another may take it: longer than any answer takes. */
const LEASE_MS = 25_000;

const ASK = defineScript({
  keys: ['meta', 'requests', 'request'],
  args: ['uid', 'key', 'text'],
  answers: { asked: 'stored' },
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    redis.call('HSET', request, 'key', key, 'request', text, 'asked', now)
    redis.call('EXPIRE', request, ${KEPT_S})
    redis.call('ZADD', requests, 0, uid)
    redis.call('PUBLISH', requests, uid)
    return 'asked'
  `,
});

const TAKE = defineScript({
  keys: ['meta', 'requests', 'request'],
  args: ['uid'],
  answers: 'the request; an empty text where another runner has it, or it is gone',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local from = redis.call('ZSCORE', requests, uid)
    if not from or tonumber(from) > now then return '' end
    local text = redis.call('HGET', request, 'request')
    if text then
      redis.call('ZADD', requests, now + ${LEASE_MS}, uid)
    else
      redis.call('ZREM', requests, uid)
    end
    return text or ''
  `,
});

const ANSWER = defineScript({
  flags: 'drains',
  keys: ['meta', 'requests', 'request'],
  args: ['uid', 'key', 'answer'],
  answers: { done: 'stored', superseded: 'there is another request now' },
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    if redis.call('HGET', request, 'key') ~= key then return 'superseded' end
    redis.call('HSET', request, 'answer', answer, 'answered', now)
    redis.call('EXPIRE', request, ${KEPT_S})
    redis.call('ZREM', requests, uid)
    return 'done'
  `,
});

const TIME = defineScript({
  flags: 'reads',
  keys: ['meta'],
  answers: 'the time of the project',
  body: `
    ${READ_NOW}
    return now
  `,
});

/** The keys of one kind of request in a project, and the schema of its results. */
type Kind<R> = {
  list: 'checks' | 'registrations';
  item: 'check' | 'registration';
  result: z.ZodType<R>;
};

/** Defines one kind of request. */
export function defineRequests<Q extends Request, R extends Result>({
  list,
  item,
  result,
}: Kind<R>): Requests<Q, R> {
  const form = z.object({ key: z.string(), failures: z.int().min(0), result });
  const placeOf = (project: ProjectUid, uid: string): string[] => {
    const keys: ProjectKeys = keysOf(project);
    return [keys.meta, keys[list], keys[item](uid)];
  };
  return {
    ask: (conn, project, uid, request) =>
      orUnavailable(async () => {
        await conn.script(ASK, placeOf(project, uid), [uid, request.key, JSON.stringify(request)]);
        return { outcome: 'asked' };
      }),
    read: (conn, project, uid) =>
      orUnavailable(async () => {
        const keys = keysOf(project);
        // In this order: a request that is answered in between reads as waiting, and is not sent again.
        const [waits, found, now, leftMs] = (await Promise.all([
          conn.command('zscore', keys[list], uid),
          conn.command('hmget', keys[item](uid), 'key', 'asked', 'answer', 'answered'),
          conn.script(TIME, [keys.meta], []),
          conn.command('pttl', keys[item](uid)),
        ])) as [string | null, (string | null)[], number, number];
        if (leftMs >= 0 && leftMs < PROLONGED_BELOW_MS) await conn.command('expire', keys[item](uid), KEPT_S);
        const [key, asked, answered, at] = found;
        const answer = answerIn(form, answered);
        return {
          now,
          ...(waits !== null && { waiting: { key: key ?? '', askedAt: timeIn(asked) } }),
          ...(answer && { answer: { ...answer, at: timeIn(at) } }),
        };
      }),
    take: (conn, project, most) =>
      orUnavailable(async () => {
        const range = [keysOf(project)[list], 0, most - 1] as const;
        const uids = most > 0 ? ((await conn.command('zrange', ...range)) as string[]) : [];
        const taken: Taken<Q>[] = [];
        for (const uid of uids) {
          const request = await conn.script(TAKE, placeOf(project, uid), [uid]);
          if (request !== '') taken.push({ uid, request: JSON.parse(String(request)) as Q });
        }
        return taken;
      }),
    answer: (conn, project, { uid, request: { key, failures } }, found) =>
      orUnavailable(async () => {
        const text = JSON.stringify({ key, failures: found.works ? 0 : failures + 1, result: found });
        const outcome = await conn.script(ANSWER, placeOf(project, uid), [uid, key, text]);
        return { outcome: outcome as 'done' | 'superseded' };
      }),
    follow: (conn, project, onAsked) => {
      const subscription = conn.subscriber().subscribe(keysOf(project)[list], onAsked);
      return { end: () => void subscription.then((it) => it.end()) };
    },
  };
}

/** The stored answer if it is valid. Not the parsed one, which lacks fields that the schema does not name. */
function answerIn<R>(form: z.ZodType<Answer<R>>, text: string | null | undefined): Answer<R> | undefined {
  try {
    const found: unknown = JSON.parse(text ?? 'null');
    return form.safeParse(found).success ? (found as Answer<R>) : undefined;
  } catch {
    return undefined;
  }
}

function timeIn(text: string | null | undefined): number {
  const time = Number(text);
  return Number.isFinite(time) ? time : 0;
}
