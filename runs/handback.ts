/** Hands claims back: a runner that stops does so. No crash is counted. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { defineFragment, defineScript } from '../store/script.ts';
import { FENCE, MISSING_RUN, MISSING_RUN_KEYS } from './lua.ts';
import { scriptKeys } from './scriptKeys.ts';
import { holderOf } from './claimToken.ts';
import type { ClaimRef, Fenced } from './types/claim.ts';

/**
 * `requeue(group, accepted)`: a claimed run is ready again, and first: at the present virtual time. It keeps
 * its slot.
 */
export const REQUEUE = defineFragment({
  needs: ['meta', 'ready', 'claims', 'run_id'],
  gives: ['requeue'],
  lua: `
local function requeue(group, accepted)
  local entry = group .. ' ' .. accepted .. ' ' .. run_id
  redis.call('ZADD', ready, tonumber(redis.call('HGET', meta, 'v') or 0), entry)
  redis.call('HDEL', claims, run_id)
  redis.call('PUBLISH', ready, entry)
end
`,
});

const HAND_BACK = defineScript({
  flags: 'drains',
  transitions: ['claimed > ready', 'claimed > none', 'overLimit > ready'],
  keys: ['meta', 'run', ...MISSING_RUN_KEYS],
  args: ['run_id', 'token'],
  answers: { fenced: "the claim is not the caller's", '0, 1': 'done; 1 where the run is to be cancelled' },
  body: `
    ${FENCE}
    local group, accepted = unpack(redis.call('HMGET', run, 'wf', 'accepted'))
    if not group then
      ${MISSING_RUN}
      return fail_missing(run_id)
    end
    ${REQUEUE}
    requeue(group, accepted)
    return redis.call('SISMEMBER', cancels, run_id)
  `,
});

/** Hands a claim back: the run is ready again, the first of its workflow, and no crash is counted. */
export function handBack(conn: RunStoreConnection, ref: ClaimRef): Promise<Fenced> {
  return orUnavailable(async () => {
    const answer = await conn.script(HAND_BACK, scriptKeys(HAND_BACK, ref), [ref.run, ref.token]);
    return answer === 'fenced' ? { outcome: 'fenced' } : { outcome: 'done', cancelRequested: answer === 1 };
  });
}

/**
 * Hands back all claims of a runner in the project, except those with the given tokens. A run whose key is of
 * a wrong type keeps its claim.
 */
export function handBackAll(
  conn: RunStoreConnection,
  {
    project,
    runner,
    except,
  }: { project: ProjectUid; runner: string; except?: { has(token: string): boolean } },
): Promise<{ outcome: 'done'; runs: string[] } | Unavailable> {
  return orUnavailable(async () => {
    const claims = (await claimsOf(conn, project, runner)).filter(([, token]) => !except?.has(token));
    let damaged: Unavailable | undefined;
    for (const [run, token] of claims) {
      const outcome = await handBack(conn, { project, run, token });
      if (outcome.outcome !== 'unavailable') continue;
      if (outcome.why !== 'damaged') return outcome;
      damaged = outcome;
    }
    return damaged ?? { outcome: 'done', runs: claims.map(([run]) => run) };
  });
}

/** The runs that a runner holds, with their tokens. Throws as the connection does. */
export async function claimsOf(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<[run: string, token: string][]> {
  const claims = (await conn.command('hgetall', keysOf(project).claims)) as Record<string, string>;
  return Object.entries(claims).filter(([, token]) => holderOf(token) === runner);
}
