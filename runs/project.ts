/** What the operator keeps in a project's run store: its id, limits, the write budget, revisions. */
import { randomUUID } from 'node:crypto';
import { canonicalJson, type Revision } from '../api/revision.ts';
import { orUnavailable, type RunStoreConnection } from './connection.ts';
import { keysOf } from './keys.ts';
import { ENQUEUE, QUEUE_KEYS, REQUIRE_STORE } from './lua.ts';
import { defineScript } from './script.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from './types.ts';

type Done = { outcome: 'done' } | Unavailable;

const DEFAULT_QUOTA_BYTES = 256 * 1024 * 1024;
/** Writes to the API server, per second and project, until the operator says otherwise. */
const DEFAULT_WRITES_PER_SECOND = 100;
/** Keys looked at or removed by one command. */
const PAGE = 500;

const OPEN = defineScript({
  flags: 'drains',
  keys: ['meta'],
  args: ['id', 'quota', 'rate'],
  body: `
    local fresh = redis.call('HSETNX', meta, 'id', id)
    redis.call('HSETNX', meta, 'rate', rate)
    if quota ~= '' then
      redis.call('HSET', meta, 'quota', quota)
    end
    return {fresh, redis.call('HGET', meta, 'id')}
  `,
});

/**
 * Gives the project its place in the store. `fresh`: it had none, so a project that was open before has lost its data.
 * Before it is open every call answers `unavailable`, `no-store`.
 */
export function openProject(
  conn: RunStoreConnection,
  project: ProjectUid,
  { quotaBytes = DEFAULT_QUOTA_BYTES }: { quotaBytes?: number } = {},
): Promise<{ outcome: 'done'; id: string; fresh: boolean } | Unavailable> {
  return orUnavailable(async () => {
    const answer = await conn.script(
      OPEN,
      [keysOf(project).meta],
      [randomUUID(), quotaBytes, DEFAULT_WRITES_PER_SECOND],
    );
    const [fresh, id] = answer as [number, string];
    return { outcome: 'done', id, fresh: fresh === 1 };
  });
}

/** Sets the limits, and makes ready what they do not hold any more; says whether there is more to be made ready. */
const LIMIT = defineScript({
  flags: 'drains',
  keys: QUEUE_KEYS,
  args: ['wf', 'limit'],
  body: `
    ${REQUIRE_STORE}
    redis.call('HSET', cfg, unpack(ARGV, 3))
    if limit == '' then
      redis.call('HDEL', cfg, wf .. ':limit')
    else
      redis.call('HSET', cfg, wf .. ':limit', limit)
    end
    ${ENQUEUE}
    local room = (tonumber(limit) or math.huge) - tonumber(redis.call('HGET', active, wf) or 0)
    local count = math.min(room, ${PAGE})
    if count <= 0 then return 0 end
    local entries = redis.call('ZRANGEBYLEX', held, '[' .. wf .. ' ', '(' .. wf .. '!', 'LIMIT', 0, count)
    for _, entry in ipairs(entries) do
      redis.call('ZREM', held, entry)
      enqueue(wf, entry)
    end
    return #entries == ${PAGE} and 1 or 0
  `,
});

/** Sets what `submit` and `claim` obey for a workflow. Runs that a lower limit was held for, and not any more, become ready. */
export function setWorkflowLimits(
  conn: RunStoreConnection,
  project: ProjectUid,
  limits: WorkflowLimits,
): Promise<Done> {
  const { workflowUid: wf, concurrency, policy, deadlineMs, history } = limits;
  const keys = keysOf(project);
  const fields = [
    ...[`${wf}:policy`, policy, `${wf}:timeout`, deadlineMs],
    ...[`${wf}:Succeeded`, history?.succeeded ?? 10, `${wf}:Failed`, history?.failed ?? 10],
  ];
  return orUnavailable(async () => {
    let more: unknown = 1;
    while (more === 1)
      more = await conn.script(
        LIMIT,
        QUEUE_KEYS.map((name) => keys[name]),
        [wf, concurrency ?? '', ...fields],
      );
    return { outcome: 'done' };
  });
}

/** Forgets limits, totals and lines of a workflow that is gone. Its runs must have ended. */
export function dropWorkflow(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<Done> {
  const keys = keysOf(project);
  const named = (names: string[]) => names.map((name) => `${workflowUid}:${name}`);
  const totals = ['accepted', 'Succeeded', 'Failed', 'Cancelled', 'last'];
  const waiting = ['waiting:Succeeded', 'waiting:Failed', 'waiting:Cancelled'];
  return orUnavailable(async () => {
    await Promise.all([
      conn.command('hdel', keys.cfg, ...named(['limit', 'policy', 'timeout', 'Succeeded', 'Failed'])),
      conn.command('hdel', keys.counts, ...named([...totals, ...waiting])),
      conn.command('hdel', keys.vt, workflowUid),
      conn.command('hdel', keys.active, workflowUid),
      conn.command('unlink', keys.done(workflowUid)),
    ]);
    return { outcome: 'done' };
  });
}

/** The runs of a workflow that have not ended, oldest first: what to cancel when the workflow goes. */
export function liveRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<string[] | Unavailable> {
  return orUnavailable(async () => {
    const entries = await conn.command(
      ...(['zrangebylex', keysOf(project).live, `[${workflowUid} `, `(${workflowUid}!`] as const),
    );
    return (entries as string[]).map((entry) => entry.slice(entry.lastIndexOf(' ') + 1));
  });
}

/** How many writes a second the project's runs may cost the API server. */
export function setWriteBudget(
  conn: RunStoreConnection,
  project: ProjectUid,
  perSecond: number,
): Promise<Done> {
  return done(() => conn.command('hset', keysOf(project).meta, 'rate', perSecond));
}

/** Removes everything of a project whose namespace is gone. The account must be allowed to SCAN: the operator's is. */
export function closeProject(conn: RunStoreConnection, project: ProjectUid): Promise<Done> {
  const { prefix, meta } = keysOf(project);
  return done(async () => {
    // First, so that nothing enters any more.
    await conn.command('unlink', meta);
    let cursor = '0';
    do {
      const page = await conn.command('scan', cursor, 'match', `${prefix}*`, 'count', PAGE);
      const [next, names] = page as [string, string[]];
      if (names.length > 0) await conn.command('unlink', ...names);
      cursor = next;
    } while (cursor !== '0');
  });
}

/** Stores a revision; the gateway opens a route, and a runner takes a run, only where its revision is there. */
export function putRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
  revision: Revision,
): Promise<Done> {
  return done(() => conn.command('set', keysOf(project).rev(name), canonicalJson(revision)));
}

const revisions = new Map<string, Revision>();
const REVISIONS_KEPT = 1_000;

/** A revision, undefined where it is not there. It never changes, so that it is read once only. */
export async function getRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
): Promise<Revision | undefined | Unavailable> {
  const key = keysOf(project).rev(name);
  const known = revisions.get(key);
  if (known) return known;
  return orUnavailable(async () => {
    const text = await conn.command('get', key);
    if (typeof text !== 'string') return undefined;
    const revision = JSON.parse(text) as Revision;
    if (revisions.size >= REVISIONS_KEPT) revisions.clear();
    revisions.set(key, revision);
    return revision;
  });
}

/** Removes revisions that no run and no route needs. */
export function dropRevisions(conn: RunStoreConnection, project: ProjectUid, names: string[]): Promise<Done> {
  if (names.length === 0) return Promise.resolve({ outcome: 'done' });
  return done(() => conn.command('unlink', ...names.map(keysOf(project).rev)));
}

function done(call: () => Promise<unknown>): Promise<Done> {
  return orUnavailable(async () => {
    await call();
    return { outcome: 'done' };
  });
}
