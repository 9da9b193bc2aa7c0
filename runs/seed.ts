/**
 * Putting back what a store that lost its data must know of a project before it opens. Until `openSeeded` every other call
 * answers `unavailable`, `no-store`. Each seeding has a token, and the last one that began is the only one that changes
 * anything, so that it may break off anywhere, or be begun twice at once. Whoever began it goes on with it after a break.
 */
import { randomUUID } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { forEachPage } from '../store/scan.ts';
import { DEDUPE_KEPT_S, DEDUPE_KEY_BYTES, EXPIRING } from './room.ts';
import { defineScript } from '../store/script.ts';
import { NOW } from '../store/lua.ts';
import type { Seeding } from '../store/lua.ts';

/** Of what the operator has not weighed against the memory yet. */
const FIRST_QUOTA_BYTES = 64 * 1024 * 1024;
/** Writes to the API server, per second and project, until the operator says otherwise. */
const FIRST_WRITES_PER_SECOND = 100;
/** Keys that one call writes: about a millisecond of the server. */
export const SEED_PAGE = 200;

/** Ends the script where another seeding has begun since, or the project is open. Needs `meta` and `token`. */
const SEEDING = `
if redis.call('HGET', meta, 'seeding') ~= token or redis.call('HEXISTS', meta, 'id') == 1 then
  return 'superseded'
end
`;

const BEGIN = defineScript({
  flags: 'drains',
  keys: ['meta'],
  args: ['token', 'own'],
  body: `
    local id = redis.call('HGET', meta, 'id')
    if id then return {'open', id} end
    local before = redis.call('HGET', meta, 'seeding')
    if before and before == own then return {'own'} end
    redis.call('HSET', meta, 'seeding', token)
    -- What was counted of a seeding that broke off goes with what it put back.
    redis.call('HDEL', meta, 'bytes', 'keys', 'summaries', 'replies')
    return {before and 'again' or 'first'}
  `,
});

const CLEAR = defineScript({
  flags: 'drains',
  keys: ['meta'],
  args: ['token'],
  body: `
    ${SEEDING}
    redis.call('UNLINK', unpack(KEYS, 2))
    return 'done'
  `,
});

/** Dedupe keys follow as keys, and for each its run and the hash of its body. Each expires; `restore` keeps that of a run that goes on. */
const SEED_KEYS = defineScript({
  flags: 'drains',
  keys: ['meta', 'expiring'],
  args: ['token'],
  body: `
    ${SEEDING}
    ${NOW}
    ${EXPIRING}
    for index = 3, #KEYS do
      local at = 2 + (index - 3) * 2
      if redis.call('EXISTS', KEYS[index]) == 0 then
        redis.call('HSET', KEYS[index], 'run', ARGV[at], 'body', ARGV[at + 1], 'phase', '')
        redis.call('EXPIRE', KEYS[index], ${DEDUPE_KEPT_S})
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
  body: `
    ${SEEDING}
    ${NOW}
    redis.call('HDEL', meta, 'seeding')
    redis.call('HSETNX', meta, 'rate', rate)
    redis.call('HSET', meta, 'quota', quota, 'opened', now, 'id', id)
    return 'done'
  `,
});

export type Begun = { outcome: 'begun'; seeding: Seeding } | { outcome: 'open'; id: string } | Unavailable;

/** Another seeding took this one's place, or the project is open: what was to be done is not. */
export type Superseded = { outcome: 'superseded' };

type Step = { outcome: 'done' } | Superseded | Unavailable;

/**
 * Begins to seed a project that is not open, and removes what a seeding that broke off has left. Where the last one that began is
 * `own`, it is that one again, and nothing is removed.
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

/** Runs that ended or were deleted meanwhile must not be there. Revisions never change, and beats are of runners that live. */
async function clear(conn: RunStoreConnection, { project, token }: Seeding): Promise<void> {
  const { prefix, meta, beats } = keysOf(project);
  await forEachPage(conn, `${prefix}*`, async (names) => {
    const left = names.filter((name) => name !== meta && name !== beats && !name.startsWith(`${prefix}rev:`));
    if (left.length > 0) await conn.script(CLEAR, [meta, ...left], [token]);
  });
}

/** A dedupe key of a recorded run: it is kept for seven more days, or, where the run is put back, until seven days after its end is recorded. */
export type RecordedKey = { workflowUid: string; hash: string; body: string; run: string };

/** Puts dedupe keys back, at most `SEED_PAGE` of them. A key that is there stays as it is. */
export function seedKeys(
  conn: RunStoreConnection,
  { project, token }: Seeding,
  known: readonly RecordedKey[],
): Promise<Step> {
  const { meta, expiring, dk } = keysOf(project);
  return orUnavailable(async () => {
    const keys = known.map(({ workflowUid, hash }) => dk(workflowUid, hash));
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
