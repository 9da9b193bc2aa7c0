/** What the operator keeps in a project's run store: its id, limits, the write budget, revisions. */
import { type Revision } from '../api/revision.ts';
import { canonicalJson } from '../kube/json.ts';
import { sleep } from '../kube/clock.ts';
import { orUnavailable, type RunStoreConnection } from './connection.ts';
import { groupsOf, type RunGroup } from './groups.ts';
import { keysOf, projectOfKey } from './keys.ts';
import { ENQUEUE, REQUIRE_STORE } from './lua.ts';
import { forEachPage, type Scan } from './pages.ts';
import { SUMMARY_OVERHEAD_BYTES } from './room.ts';
import { defineScript } from './script.ts';
import { beginSeeding, openSeeded, type Seeding } from './seed.ts';
import { groupOfToken } from './token.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from './types.ts';

type Done = { outcome: 'done' } | Unavailable;

/** Held runs that one call makes ready. */
const PAGE = 500;

/**
 * Gives a project of which nothing is to be put back its place in the store. `fresh`: it had none. Before it is open every call
 * answers `unavailable`, `no-store`.
 */
export async function openProject(
  conn: RunStoreConnection,
  project: ProjectUid,
  options: { quotaBytes?: number } = {},
): Promise<{ outcome: 'done'; id: string; fresh: boolean } | Unavailable> {
  const begun = await beginSeeding(conn, project);
  if (begun.outcome === 'unavailable') return begun;
  if (begun.outcome === 'open') return { outcome: 'done', id: begun.id, fresh: false };
  const opened = await openSeeded(conn, begun.seeding, options);
  if (opened.outcome === 'superseded') return openProject(conn, project, options);
  return opened.outcome === 'done' ? { ...opened, fresh: true } : opened;
}

/**
 * `count_again()`: where somebody removed the key of the group by hand, counts its slots and runs anew from the index of its runs. Ended
 * runs of before are in no total any more. Needs the keys of LIMIT and `group`.
 */
const COUNT_AGAIN = `
local function count_again()
  local listed = redis.call('ZRANGE', runs, 0, -1, 'WITHSCORES')
  local active, waiting = 0, 0
  for index = 1, #listed, 2 do
    local name = listed[index]
    local entry = group .. ' ' .. listed[index + 1] .. ' ' .. name
    if redis.call('HEXISTS', claims, name) == 1 or redis.call('ZSCORE', q, entry) then
      active = active + 1
    elseif redis.call('ZSCORE', held, entry) or redis.call('ZSCORE', due, entry) then
      waiting = waiting + 1
    end
  end
  local accepted = active + waiting
  for _, ended in ipairs(redis.call('HMGET', wf, 'Succeeded', 'Failed', 'Cancelled')) do
    accepted = accepted + tonumber(ended or 0)
  end
  local summaries = 0
  for _, line in ipairs(redis.call('HVALS', lines)) do
    summaries = summaries + ${SUMMARY_OVERHEAD_BYTES} + #line
  end
  redis.call('HSET', wf, 'active', active, 'accepted', accepted, 'summaries', summaries)
end
`;

/**
 * Sets the limits, and makes ready what they do not hold any more; says whether there is more to be made ready. A suspended workflow
 * has the limit 0, so that every script that starts or resumes a run holds it back.
 */
const LIMIT = defineScript({
  flags: 'drains',
  keys: ['meta', 'q', 'held', 'due', 'claims', 'wf', 'runs', 'lines'],
  args: ['group', 'limit', 'seeding'],
  body: `
    if seeding == '' or redis.call('HGET', meta, 'seeding') ~= seeding then
      ${REQUIRE_STORE}
    end
    -- A reconcile that began before the deletion must not lift its mark.
    if redis.call('HEXISTS', wf, 'deleted') == 1 then return 0 end
    if redis.call('HEXISTS', wf, 'policy') == 0 and redis.call('EXISTS', runs, lines) > 0 then
      ${COUNT_AGAIN}
      count_again()
    end
    redis.call('HSET', wf, unpack(ARGV, 4))
    if limit == '' then
      redis.call('HDEL', wf, 'limit')
    else
      redis.call('HSET', wf, 'limit', limit)
    end
    ${ENQUEUE}
    local slots = redis.call('HMGET', wf, 'active', 'vt')
    local active, own = tonumber(slots[1] or 0), slots[2] or 0
    local count = math.min((tonumber(limit) or math.huge) - active, ${PAGE})
    if count <= 0 then return 0 end
    local entries = redis.call('ZRANGEBYLEX', held, '[' .. group .. ' ', '(' .. group .. '!', 'LIMIT', 0, count)
    local virtual = redis.call('HGET', meta, 'v')
    for _, entry in ipairs(entries) do
      redis.call('ZREM', held, entry)
      own = enqueue(entry, virtual, own)
    end
    redis.call('HSET', wf, 'active', active + #entries, 'vt', own)
    return #entries == ${PAGE} and 1 or 0
  `,
});

/**
 * Sets what `submit` and `claim` obey for a workflow: the same for its live runs and for its test runs, which are counted apart. Runs that
 * only a lower limit held back become ready. With a `seeding` also before the project is open.
 */
export function setWorkflowLimits(
  conn: RunStoreConnection,
  project: ProjectUid,
  { workflowUid, suspended = false, concurrency, policy, deadlineMs, history }: WorkflowLimits,
  seeding?: Seeding,
): Promise<Done> {
  const { meta, q, held, due, claims, wf, runs, lines } = keysOf(project);
  const keep = history ?? { succeeded: 10, failed: 10 };
  const limit = suspended ? 0 : (concurrency ?? '');
  const fields = {
    suspended: suspended ? 1 : 0,
    policy,
    timeout: deadlineMs,
    'keep:Succeeded': keep.succeeded,
    'keep:Failed': keep.failed,
    'keep:Cancelled': keep.failed,
  };
  return orUnavailable(async () => {
    const args = [limit, seeding?.token ?? '', ...Object.entries(fields).flat()];
    for (const group of groupsOf(workflowUid)) {
      const keys = [meta, q, held, due, claims, wf(group), runs(group), lines(group)];
      let more: unknown = 1;
      while (more === 1) more = await conn.script(LIMIT, keys, [group, ...args]);
    }
    return { outcome: 'done' };
  });
}

/** The live runs, or the test runs, of a workflow that have not ended, all at once: for tests. Programs ask for pages, or whether there are any. */
export function unfinishedRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
): Promise<string[] | Unavailable> {
  const { q, held, due, claims } = keysOf(project);
  return orUnavailable(async () => {
    const [ready, parked, waiting, claimed] = (await Promise.all([
      conn.command('zrange', q, 0, -1),
      conn.command('zrange', due, 0, -1),
      conn.command('zrangebylex', held, `[${group} `, `(${group}!`),
      conn.command('hgetall', claims),
    ])) as [string[], string[], string[], Record<string, string>];
    const own = [...ready, ...parked].filter((entry) => entry.startsWith(`${group} `));
    const entries = [...own, ...waiting];
    const running = Object.entries(claimed).filter(([, token]) => groupOfToken(token) === group);
    return [
      ...entries.map((entry) => entry.slice(entry.lastIndexOf(' ') + 1)),
      ...running.map(([run]) => run),
    ];
  });
}

const TUNE = defineScript({
  flags: 'drains',
  keys: ['meta'],
  body: `
    ${REQUIRE_STORE}
    return redis.call('HSET', meta, unpack(ARGV))
  `,
});

/** How many writes a second the project's runs may cost the API server. */
export function setWriteBudget(
  conn: RunStoreConnection,
  project: ProjectUid,
  perSecond: number,
): Promise<Done> {
  return done(() => conn.script(TUNE, [keysOf(project).meta], ['rate', perSecond]));
}

/** Above how many bytes `submit` refuses; what runs already is never held up by it. */
export function setQuota(conn: RunStoreConnection, project: ProjectUid, bytes: number): Promise<Done> {
  return setQuotas(conn, project, { quota: bytes });
}

/** Limits in bytes; what is left out stays as it is. */
export type Quotas = {
  /** Above so many bytes of runs `submit` refuses. */
  quota: number;
  /** A run is claimed only where those that are claimed, and this one, can grow as expected below so many bytes of runs. */
  claimQuota: number;
  /** Above so many bytes of dedupe keys `submit` refuses events that have a key. */
  keyQuota: number;
};

export function setQuotas(
  conn: RunStoreConnection,
  project: ProjectUid,
  quotas: Partial<Quotas>,
): Promise<Done> {
  const fields = Object.entries(quotas).flatMap(([name, bytes]) => [name, Math.floor(bytes)]);
  return done(() => conn.script(TUNE, [keysOf(project).meta], fields));
}

/** The id of the project's data; undefined where it has lost them, or never had any. */
export function storeId(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<string | undefined | Unavailable> {
  return orUnavailable(async () => {
    const id = await conn.command('hget', keysOf(project).meta, 'id');
    return typeof id === 'string' ? id : undefined;
  });
}

/**
 * Removes everything of a project whose namespace is gone. The account must be allowed to SCAN: the operator's is. With the `scan` of a
 * call that broke off it goes on where that was.
 */
export function closeProject(conn: RunStoreConnection, project: ProjectUid, scan?: Scan): Promise<Done> {
  return closeProjects(conn, [project], scan);
}

/** Keys that one command removes: about a millisecond of the server. */
const REMOVED_AT_ONCE = 100;
/** The least pause between two commands: the server frees what was removed while it answers others. */
const REST_MS = 4;
/** How much longer than a command took the next one waits, where that is more. */
const REST_PER_COMMAND = 2;

/** Removes everything of several projects, in one scan, and leaves most of the server's time to others meanwhile. */
export function closeProjects(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
  scan?: Scan,
): Promise<Done> {
  const [only = ''] = projects;
  const pattern = projects.length === 1 ? `${keysOf(only).prefix}*` : 'wl:*';
  const closed = new Set<string | undefined>(projects);
  return done(async () => {
    // First, so that nothing enters any more.
    for (const project of projects) await conn.command('unlink', keysOf(project).meta);
    await forEachPage(
      conn,
      pattern,
      async (names) => {
        const own = names.filter((name) => closed.has(projectOfKey(name)));
        for (let at = 0; at < own.length; at += REMOVED_AT_ONCE) {
          const startedAt = performance.now();
          await conn.command('unlink', ...own.slice(at, at + REMOVED_AT_ONCE));
          await sleep(Math.max(REST_MS, (performance.now() - startedAt) * REST_PER_COMMAND));
        }
      },
      scan,
    );
  });
}

/** Also when the memory is full: what is restored needs it. */
const PUT = defineScript({
  flags: 'drains',
  keys: [],
  args: ['text'],
  body: `return redis.call('SET', KEYS[1], text)`,
});

/** Stores a revision; the gateway opens a route, and a runner takes a run, only where its revision is there. */
export function putRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
  revision: Revision,
): Promise<Done> {
  return done(() => conn.script(PUT, [keysOf(project).rev(name)], [canonicalJson(revision)]));
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
