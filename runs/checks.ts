/**
 * Checks of credentials on their way: the operator asks, one runner of the project tries, and the operator looks for the answer.
 * A question that is asked anew with another key makes answers to the one before worthless. All times are the store's.
 */
import * as z from 'zod';
import { checkResult, type CheckResult } from '../api/check.ts';
import type { CredentialSpec } from '../api/credential.ts';
import { orUnavailable, type RunStoreConnection } from './connection.ts';
import { keysOf } from './keys.ts';
import { NOW, REQUIRE_STORE } from './lua.ts';
import { defineScript } from './script.ts';
import { createSignal, type Signal } from './signal.ts';
import type { ProjectUid, Unavailable } from './types.ts';

/** What is to be tried. */
export type CheckRequest = {
  /** Names what is tried: the spec, and the state of the Secrets. */
  key: string;
  /** The credential's name. */
  name: string;
  spec: CredentialSpec;
  /** How often in a row it has failed before. */
  failures: number;
};

export type CheckAnswer = { key: string; failures: number; result: CheckResult };

const checkAnswer = z.object({ key: z.string(), failures: z.int().min(0), result: checkResult });

/** What the store knows of a check. */
export type SeenCheck = {
  /** Milliseconds since 1970, as are all times here. */
  now: number;
  /** What nobody has answered yet. */
  waiting?: { key: string; askedAt: number };
  /** The last answer. */
  answer?: CheckAnswer & { at: number };
};

/** A day is the longest time between two checks of a credential in use. What is left of one that is gone vanishes by itself. */
const KEPT_S = 3 * 24 * 3_600;
/** For how long a runner may keep a check to itself before another takes it: longer than any check may last. */
const LEASE_MS = 25_000;

const ASK = defineScript({
  keys: ['meta', 'checks', 'check'],
  args: ['uid', 'key', 'request'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    redis.call('HSET', check, 'key', key, 'request', request, 'asked', now)
    redis.call('EXPIRE', check, ${KEPT_S})
    redis.call('ZADD', checks, 0, uid)
    redis.call('PUBLISH', checks, uid)
    return 'asked'
  `,
});

/** Asks the project's runners to try a credential. */
export function askCheck(
  conn: RunStoreConnection,
  project: ProjectUid,
  uid: string,
  request: CheckRequest,
): Promise<{ outcome: 'asked' } | Unavailable> {
  const { meta, checks, check } = keysOf(project);
  return orUnavailable(async () => {
    await conn.script(ASK, [meta, checks, check(uid)], [uid, request.key, JSON.stringify(request)]);
    return { outcome: 'asked' };
  });
}

/** What is known of the check of a credential. Whoever holds an account of the project's runners may have written it: what has not the form is not there. */
export function lookAtCheck(
  conn: RunStoreConnection,
  project: ProjectUid,
  uid: string,
): Promise<SeenCheck | Unavailable> {
  const { checks, check } = keysOf(project);
  return orUnavailable(async () => {
    // In this order: what is answered in between is seen as waiting still, and not as if it were to be asked again.
    const [waits, found, time] = (await Promise.all([
      conn.command('zscore', checks, uid),
      conn.command('hmget', check(uid), 'key', 'asked', 'answer', 'answered'),
      conn.command('time'),
    ])) as [string | null, (string | null)[], [string, string]];
    const [key, asked, answered, at] = found;
    const answer = answerIn(answered);
    return {
      now: Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000),
      ...(waits !== null && { waiting: { key: key ?? '', askedAt: timeIn(asked) } }),
      ...(answer && { answer: { ...answer, at: timeIn(at) } }),
    };
  });
}

function answerIn(text: string | null | undefined): CheckAnswer | undefined {
  try {
    const found: unknown = JSON.parse(text ?? 'null');
    return checkAnswer.safeParse(found).success ? (found as CheckAnswer) : undefined;
  } catch {
    return undefined;
  }
}

function timeIn(text: string | null | undefined): number {
  const time = Number(text);
  return Number.isFinite(time) ? time : 0;
}

const TAKE = defineScript({
  keys: ['meta', 'checks', 'check'],
  args: ['uid'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local from = redis.call('ZSCORE', checks, uid)
    if not from or tonumber(from) > now then return '' end
    local request = redis.call('HGET', check, 'request')
    if request then
      redis.call('ZADD', checks, now + ${LEASE_MS}, uid)
    else
      redis.call('ZREM', checks, uid)
    end
    return request or ''
  `,
});

/** A check that this runner has to answer. */
export type TakenCheck = { uid: string; request: CheckRequest };

/** Takes checks that no other runner has taken, at most so many. */
export function takeChecks(
  conn: RunStoreConnection,
  project: ProjectUid,
  most: number,
): Promise<TakenCheck[] | Unavailable> {
  const { meta, checks, check } = keysOf(project);
  return orUnavailable(async () => {
    const uids = most > 0 ? ((await conn.command('zrange', checks, 0, most - 1)) as string[]) : [];
    const taken: TakenCheck[] = [];
    for (const uid of uids) {
      const request = await conn.script(TAKE, [meta, checks, check(uid)], [uid]);
      if (request !== '') taken.push({ uid, request: JSON.parse(String(request)) as CheckRequest });
    }
    return taken;
  });
}

const ANSWER = defineScript({
  flags: 'drains',
  keys: ['meta', 'checks', 'check'],
  args: ['uid', 'key', 'answer'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    if redis.call('HGET', check, 'key') ~= key then return 'superseded' end
    redis.call('HSET', check, 'answer', answer, 'answered', now)
    redis.call('EXPIRE', check, ${KEPT_S})
    redis.call('ZREM', checks, uid)
    return 'done'
  `,
});

/** Stores what was found, unless something else is asked by now. */
export function answerCheck(
  conn: RunStoreConnection,
  project: ProjectUid,
  { uid, request: { key, failures } }: TakenCheck,
  result: CheckResult,
): Promise<{ outcome: 'done' | 'superseded' } | Unavailable> {
  const { meta, checks, check } = keysOf(project);
  const answer: CheckAnswer = { key, failures: result.works ? 0 : failures + 1, result };
  return orUnavailable(async () => {
    const said = await conn.script(ANSWER, [meta, checks, check(uid)], [uid, key, JSON.stringify(answer)]);
    return { outcome: said as 'done' | 'superseded' };
  });
}

/** A signal that is raised whenever a check of the project may have been asked for. `end` stops that. */
export function followChecks(conn: RunStoreConnection, project: ProjectUid): { asked: Signal; end(): void } {
  const asked = createSignal();
  const subscription = conn.subscriber().subscribe(keysOf(project).checks, asked.raise);
  return { asked, end: () => void subscription.then((it) => it.end()) };
}
