/**
 * Seeding: what a store that lost its data must know about a project before it opens. Until `openSeeded`
 * every other call answers `unavailable`, `no-store`. Each seeding has a token, and only the last one that
 * began changes anything: it may stop anywhere, or begin twice at once.
 */
import { randomUUID } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { MOVED } from '../store/callErrors.ts';
import { NOW } from '../store/lua.ts';
import type { Seeding } from '../store/lua.ts';
import { forEachPage } from '../store/scan.ts';
import { defineFragment, defineScript } from '../store/script.ts';
import { DEDUPE_KEPT_S, DEDUPE_KEY_BYTES, EXPIRING } from './room.ts';

/** Until the operator has distributed the memory. */
const FIRST_QUOTA_BYTES = 64 * 1024 * 1024;
/** Writes to the API server, per second and project, until the operator sets the write budget. */
const FIRST_WRITES_PER_SECOND = 100;
/** Keys that one call writes: about a millisecond of the server's time. */
export const SEED_PAGE = 200;

/** Ends the script where another seeding has begun since, or the project is open. */
const REQUIRE_SEEDING = defineFragment({
  needs: ['meta', 'token'],
  lua: `
if redis.call('HGET', meta, 'seeding') ~= token or redis.call('HEXISTS', meta, 'id') == 1 then
  return 'superseded'
end
`,
});

const BEGIN = defineScript({
  flags: 'drains',
  keys: ['meta'],
  // `own`: the token of the seeding to continue, or empty.
  args: ['token', 'own'],
  answers: {
    open: 'the project is open; and the id of its store',
    own: 'the seeding to continue is the last one',
    first: 'a new seeding',
    again: 'a new seeding, after one that did not end',
  },
  body: `
    local id, before, moved = unpack(redis.call('HMGET', meta, 'id', 'seeding', 'moved'))
    if moved then return redis.error_reply('${MOVED}') end
    if id then return {'open', id} end
    if before and before == own then return {'own'} end
    redis.call('HSET', meta, 'seeding', token)
    -- The counts of the seeding before go with what it restored.
    redis.call('HDEL', meta, 'bytes', 'keys', 'summaries', 'replies')
    return {before and 'again' or 'first'}
  `,
});

const CLEAR = defineScript({
  flags: 'drains',
  keys: ['meta'],
  args: ['token'],
  answers: {
    done: 'the further keys are removed',
    superseded: 'another seeding has begun, or the project is open',
  },
  body: `
    ${REQUIRE_SEEDING}
    redis.call('UNLINK', unpack(KEYS, 2))
    return 'done'
  `,
});

/** Each key expires; `restore` keeps the key of a run that it restores. */
const SEED_KEYS = defineScript({
  flags: 'drains',
  keys: ['meta', 'expiring'],
  args: ['token'],
  lists: { known: { args: ['run_id', 'body_hash'], keys: ['dedupe'] } },
  answers: { done: 'the keys are stored', superseded: 'another seeding has begun, or the project is open' },
  body: `
    ${REQUIRE_SEEDING}
    ${NOW}
    ${EXPIRING}
    for _, run_id, body_hash, dedupe in known() do
      if redis.call('EXISTS', dedupe) == 0 then
        redis.call('HSET', dedupe, 'run', run_id, 'body', body_hash, 'phase', '')
        redis.call('EXPIRE', dedupe, ${DEDUPE_KEPT_S})
        redis.call('HINCRBY', meta, 'keys', ${DEDUPE_KEY_BYTES})
        expire_later('keys', ${DEDUPE_KEY_BYTES}, ${DEDUPE_KEPT_S})
      end
    end
    return 'done'
  `,
});

const OPEN = defineScript({
  flags: 'drains',
  keys: ['meta'],
  args: ['token', 'id', 'quota', 'rate'],
  answers: { done: 'the project is open', superseded: 'another seeding has begun, or the project is open' },
  body: `
    ${REQUIRE_SEEDING}
    ${NOW}
    redis.call('HDEL', meta, 'seeding')
    redis.call('HSETNX', meta, 'rate', rate)
    redis.call('HSET', meta, 'quota', quota, 'opened', now, 'id', id)
    return 'done'
  `,
});

export type Begun = { outcome: 'begun'; seeding: Seeding } | { outcome: 'open'; id: string } | Unavailable;

/** Another seeding has begun, or the project is open: nothing was done. */
export type Superseded = { outcome: 'superseded' };

type Step = { outcome: 'done' } | Superseded | Unavailable;

/**
 * Begins to seed a project that is not open, and removes the keys of a seeding that did not end. Where `own`
 * is the last one that began, continues it and removes nothing.
 */
export function beginSeeding(conn: RunStoreConnection, project: ProjectUid, own?: Seeding): Promise<Begun> {
  const token = randomUUID();
  return orUnavailable(async () => {
    const [before, id = ''] = (await conn.script(
      BEGIN,
      [keysOf(project).meta],
      [token, own?.token ?? ''],
    )) as string[];
    if (before === 'open') return { outcome: 'open', id };
    if (before === 'own' && own) return { outcome: 'begun', seeding: own };
    const seeding = { project, token };
    if (before === 'again') await clear(conn, seeding);
    return { outcome: 'begun', seeding };
  });
}

/**
 * Runs that have ended or were deleted since must not be there. Revisions never change, and heartbeats are
 * those of living runners.
 */
async function clear(conn: RunStoreConnection, { project, token }: Seeding): Promise<void> {
  const { prefix, meta, heartbeats, failures, callbacks } = keysOf(project);
  await forEachPage(conn, `${prefix}*`, async (names) => {
    const left = names.filter(
      (name) =>
        name !== meta &&
        name !== heartbeats &&
        // Their runs have ended, and no record could restore the entries.
        name !== failures &&
        // The operator may have stored the keys of callbacks before, and restored runs need them at once.
        name !== callbacks &&
        !name.startsWith(`${prefix}rev:`) &&
        !name.startsWith(`${prefix}vars:`),
    );
    if (left.length > 0) await conn.script(CLEAR, [meta, ...left], [token]);
  });
}

/**
 * A dedupe key of a recorded run. It expires after seven days, or, where the run is restored, seven days
 * after its end is recorded.
 */
export type RecordedKey = { workflowUid: string; hash: string; body: string; run: string };

/** Restores at most `SEED_PAGE` dedupe keys. An existing key stays as it is. */
export function seedKeys(
  conn: RunStoreConnection,
  { project, token }: Seeding,
  known: readonly RecordedKey[],
): Promise<Step> {
  const { meta, expiring, dedupe } = keysOf(project);
  return orUnavailable(async () => {
    const keys = known.map(({ workflowUid, hash }) => dedupe(workflowUid, hash));
    const args = known.flatMap(({ run, body }) => [run, body]);
    const answer = await conn.script(SEED_KEYS, [meta, expiring, ...keys], [token, ...args]);
    return { outcome: answer === 'superseded' ? 'superseded' : 'done' };
  });
}

/** Opens the project: from now on events are accepted and runs claimed. */
export function openSeeded(
  conn: RunStoreConnection,
  { project, token }: Seeding,
  { quotaBytes = FIRST_QUOTA_BYTES }: { quotaBytes?: number } = {},
): Promise<{ outcome: 'done'; id: string } | Superseded | Unavailable> {
  const id = randomUUID();
  return orUnavailable(async () => {
    const args = [token, id, quotaBytes, FIRST_WRITES_PER_SECOND];
    const answer = await conn.script(OPEN, [keysOf(project).meta], args);
    return answer === 'superseded' ? { outcome: 'superseded' } : { outcome: 'done', id };
  });
}
