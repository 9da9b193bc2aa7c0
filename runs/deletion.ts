/**
 * Deletes a workflow's runs: first a mark, after which none of them starts, then the runs page by page, live
 * runs before test runs, then the rest. The index of runs of each group is the cursor: it has only those that
 * are left, so that any process can continue after an interruption and repeats nothing.
 */
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { groupsOf, type RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { forgetUsage } from './budget.ts';
import { END, END_ARGS, END_KEYS, END_TRANSITIONS, endArgs } from './end.ts';
import { CANCEL_CHILDREN, ENQUEUE, EVENTS } from './lua.ts';
import { RELEASE_MEMORIES } from './memoryLocks.ts';
import { dropMemories } from './memoryRemoval.ts';
import type { RunHead } from './read.ts';
import { DEDUPE_KEY_BYTES, FORGET_SUMMARIES, RUN_KEPT_S } from './room.ts';
import { scriptKeys } from './scriptKeys.ts';
import { forgetSeen } from './seen.ts';
import type { RunEnd } from './types/result.ts';

/** Runs of one script: about a millisecond of the server's time, during which all others wait. */
const AT_ONCE = 20;
/** Scripts in progress at a time. */
const WIDTH = 4;
/** Runs of one page, which are read together to save round trips. */
const PAGE = 3 * WIDTH * AT_ONCE;
/**
 * How long the mark of a dropped workflow is stored: a gateway that does not know of the deletion may still
 * send events.
 */
const TOMBSTONE_S = 300;

/** The end of each run of a deleted workflow: its parent shows the message. */
export const END_OF_DELETED: RunEnd = {
  phase: 'Cancelled',
  reason: 'Cancelled',
  message: 'The run was cancelled, because its workflow was deleted.',
};

/** Marks a workflow as deleted: a suspension that nothing lifts. */
const MARK = defineFragment({
  needs: ['wf'],
  lua: `redis.call('HSET', wf, 'deleted', 1, 'suspended', 1, 'limit', 0)`,
});

const BEGIN = defineScript({
  flags: 'drains',
  keys: ['meta', 'deleting', 'wf', 'runs', 'callees'],
  args: ['uid', 'name'],
  answers: 'how many runs of the group the store has',
  body: `
    ${REQUIRE_STORE}
    if name ~= '' then
      redis.call('HSET', deleting, uid, name)
    else
      redis.call('HSETNX', deleting, uid, name)
    end
    -- Another workflow may have the name by now.
    local callee = redis.call('HGET', callees, name)
    if callee and string.match(callee, '^[^ ]+') == uid then redis.call('HDEL', callees, name) end
    ${MARK}
    return redis.call('ZCARD', runs)
  `,
});

/** `remove_entries(entry)`: somebody removed the key of the run by hand. Removes all entries that name it. */
const REMOVE_ENTRIES = defineFragment({
  needs: [
    'ready',
    'overLimit',
    'parked',
    'replaceable',
    'unrecorded',
    'unfinished',
    'beyond',
    'group',
    'run_id',
    'events',
    'items',
    'calls',
    'signals',
    'cancel_children',
    'release_memories',
  ],
  gives: ['remove_entries'],
  lua: `
local function remove_entries(entry)
  redis.call('ZREM', ready, entry)
  redis.call('ZREM', overLimit, entry)
  redis.call('ZREM', parked, entry)
  redis.call('ZREM', replaceable, entry)
  redis.call('ZREM', unrecorded, run_id)
  redis.call('ZREM', unfinished, group .. ' ' .. run_id)
  redis.call('ZREM', beyond, group .. ' ' .. run_id)
  redis.call('UNLINK', events, items, calls, signals)
  cancel_children()
  release_memories(run_id)
end
`,
});

/**
 * `drop_run(bytes, dedupe)`: the run has no object, so that nothing waits for its record. It can be read for
 * a few more seconds.
 */
const DROP_RUN = defineFragment({
  needs: ['meta', 'unrecorded', 'run_id', 'run', 'events', 'items'],
  gives: ['drop_run'],
  lua: `
local function drop_run(bytes, dedupe)
  redis.call('UNLINK', items)
  redis.call('HSET', run, 'dropped', 1)
  redis.call('EXPIRE', run, ${RUN_KEPT_S})
  redis.call('EXPIRE', events, ${RUN_KEPT_S})
  redis.call('ZREM', unrecorded, run_id)
  redis.call('HINCRBY', meta, 'bytes', 0 - (bytes or 0))
  if dedupe ~= run and redis.call('UNLINK', dedupe) == 1 then
    redis.call('HINCRBY', meta, 'keys', -${DEDUPE_KEY_BYTES})
  end
end
`,
});

/** The keys of END that each run has of its own. */
const RUN_KEYS = [
  'run',
  'events',
  'items',
  'calls',
  'spent',
  'signals',
  'children',
  'parent',
  'parentWf',
  'parentSignals',
  'siblings',
] as const;

/**
 * Ends each run that no runner holds, and drops those that have no object: the record of a workflow that is
 * gone would be deleted with it. A run that has an object waits until its end is recorded. The key `dedupe`
 * of a run without a dedupe key is that of the run.
 */
const DELETE_RUNS = defineScript({
  flags: 'drains',
  transitions: ['ready > ended', 'overLimit > ended', 'parked > ended', 'ended > none', ...END_TRANSITIONS],
  keys: [...END_KEYS.filter((key) => !RUN_KEYS.some((own) => own === key)), 'runs'],
  args: ['group', ...END_ARGS],
  // `is_object`: 1 where somebody created the run as an object.
  lists: {
    deleted: {
      args: ['run_id', 'is_object'],
      keys: [...RUN_KEYS, 'dedupe'],
    },
  },
  answers: 'how many of the runs a runner holds, which shall end them',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local ${RUN_KEYS.join(', ')}
    local run_id, event_count, event_bytes
    ${EVENTS}
    ${ENQUEUE}
    ${END}
    ${CANCEL_CHILDREN}
    ${RELEASE_MEMORIES}
    ${REMOVE_ENTRIES}
    ${DROP_RUN}
    local running, has_ends = 0, false
    for index, name, is_object in deleted() do
      local dedupe
      run_id = name
      ${RUN_KEYS.join(', ')}, dedupe = keys_of_deleted(index)
      local state, accepted, sequence, ended, ev_count, ev_bytes, bytes, recorded, creating, dropped = unpack(
        redis.call('HMGET', run, 'phase', 'accepted', 'sequence', 'ended', 'evcount', 'evbytes', 'bytes',
          'recorded', 'creating', 'dropped'))
      local is_unfinished = state and not ended
      local entry = group .. ' ' .. (accepted or redis.call('ZSCORE', runs, run_id) or '') .. ' ' .. run_id
      if not state then remove_entries(entry) end
      if is_unfinished and redis.call('HEXISTS', claims, run_id) == 1 then
        redis.call('SADD', cancels, run_id)
        redis.call('PUBLISH', cancels, run_id)
        running = running + 1
      else
        if is_unfinished then
          event_count, event_bytes = ev_count or 0, ev_bytes or 0
          local is_ready = redis.call('ZSCORE', ready, entry)
          redis.call('ZREM', overLimit, entry)
          redis.call('ZREM', parked, entry)
          end_run(group, is_ready, accepted, tonumber(sequence or 0) + 1, 0)
          redis.call('ZREM', ready, entry)
        end
        local has_object = is_object == '1' or recorded or creating
        if state and not dropped and not has_object then drop_run(bytes, dedupe) end
        if is_unfinished and has_object then has_ends = true end
        redis.call('ZREM', runs, run_id)
      end
    end
    -- A runner has to record them, and may be asleep.
    if has_ends then redis.call('PUBLISH', unrecorded, '') end
    return running
  `,
});

const DROP = defineScript({
  flags: 'drains',
  keys: ['meta', 'wf', 'runs', 'summarized', 'summaries'],
  answers: { done: 'limits, totals and summaries are removed' },
  body: `
    ${REQUIRE_STORE}
    ${FORGET_SUMMARIES}
    redis.call('UNLINK', wf, runs, summarized, summaries)
    ${MARK}
    redis.call('EXPIRE', wf, ${TOMBSTONE_S})
    return 'done'
  `,
});

/** A deleted workflow. The name is for people, and may be empty. */
export type DeletedWorkflow = { workflowUid: string; name: string };

/**
 * Marks a workflow as deleted, durably: from now on none of its events is accepted and none of its runs
 * starts, whatever its limits are set to. Answers how many of its runs the store has.
 */
export function beginDeletion(
  conn: RunStoreConnection,
  project: ProjectUid,
  { workflowUid, name }: DeletedWorkflow,
): Promise<{ outcome: 'done'; left: number } | Unavailable> {
  const { meta, deleting, wf, runs, callees } = keysOf(project);
  return orUnavailable(async () => {
    let left = 0;
    for (const group of groupsOf(workflowUid))
      left += (await conn.script(
        BEGIN,
        [meta, deleting, wf(group), runs(group), callees],
        [workflowUid, name],
      )) as number;
    return { outcome: 'done', left };
  });
}

/**
 * Whether the deletion of a workflow has begun, for up to five minutes after it has ended: `submit` says
 * `suspended` for both.
 */
export function isDeleted(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<boolean | Unavailable> {
  const [live] = groupsOf(workflowUid);
  return orUnavailable(
    async () => (await conn.command('hexists', keysOf(project).wf(live), 'deleted')) === 1,
  );
}

/** `seen`: 0 where the page is beyond the end. `running`: runs that a runner holds, which shall end them. */
type DeletedPage = { outcome: 'done'; seen: number; running: number; left: number };

/**
 * Cancels and removes a page of a workflow's live runs, the oldest first, then of its test runs. Leaves out
 * the first `skip`, which were running. Takes a few milliseconds of the server's time, in pieces of about
 * one.
 */
export function deletePage(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  { skip, size = PAGE }: { skip: number; size?: number },
): Promise<DeletedPage | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    const { group, names } = await nextPage(conn, project, workflowUid, { skip, size });
    const heads = await Promise.all(names.map((name) => conn.command('hget', keys.run(name), 'head')));
    const runs = names.map((run, at) => ({ run, head: headOf(heads[at]) }));
    let running = 0;
    for (const chunks of chunksOf(chunksOf(runs, AT_ONCE), WIDTH)) {
      const work = chunks.map((chunk) => deleteRuns(conn, project, { workflowUid, group }, chunk));
      for (const count of await Promise.all(work)) running += count;
    }
    return {
      outcome: 'done',
      seen: names.length,
      running,
      left: (await sizesOf(conn, project, workflowUid)).reduce((sum, count) => sum + count, 0),
    };
  });
}

/** The numbers of live runs and of test runs in the store. */
async function sizesOf(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<number[]> {
  const indexes = groupsOf(workflowUid).map(keysOf(project).runs);
  return (await Promise.all(indexes.map((index) => conn.command('zcard', index)))) as number[];
}

/**
 * The next runs of one group, after the first `skip`, which were running: all that is left of live runs, the
 * rest of test runs.
 */
async function nextPage(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  { skip, size }: { skip: number; size: number },
): Promise<{ group: RunGroup; names: string[] }> {
  const [live, test] = groupsOf(workflowUid);
  const page = async (group: RunGroup, from: number) =>
    (await conn.command('zrange', keysOf(project).runs(group), from, from + size - 1)) as string[];
  const names = await page(live, skip);
  if (names.length > 0) return { group: live, names };
  const [running = 0] = await sizesOf(conn, project, workflowUid);
  return { group: test, names: await page(test, Math.max(0, skip - running)) };
}

type Known = { run: string; head: Partial<RunHead> };

async function deleteRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  { workflowUid, group }: { workflowUid: string; group: RunGroup },
  runs: Known[],
): Promise<number> {
  const keys = keysOf(project);
  const declared = scriptKeys(DELETE_RUNS, { project, run: '', group });
  const ofRuns = runs.flatMap(({ run, head: { dedupeHash, parent } }) => {
    const own = keys.run(run);
    return [
      ...scriptKeys({ keys: RUN_KEYS }, { project, run, group, parent }),
      dedupeHash === undefined ? own : keys.dedupe(workflowUid, dedupeHash),
    ];
  });
  const args = argumentsOf(DELETE_RUNS, {
    group,
    ...endArgs(END_OF_DELETED),
    deleted: runs.map(({ run, head: { recordUid } }) => [run, recordUid === undefined ? '0' : '1']),
  });
  return (await conn.script(DELETE_RUNS, [...declared, ...ofRuns], args)) as number;
}

function headOf(text: unknown): Partial<RunHead> {
  return typeof text === 'string' ? (JSON.parse(text) as RunHead) : {};
}

/**
 * Removes limits, totals, summaries, usage, seen keys and memories of a workflow without runs. Its mark stays
 * for five more minutes.
 */
export function dropWorkflow(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<Done> {
  const { meta, deleting, wf, runs, summarized, summaries } = keysOf(project);
  return doneOrUnavailable(async () => {
    for (const group of groupsOf(workflowUid))
      await conn.script(DROP, [meta, ...[wf, runs, summarized, summaries].map((key) => key(group))], []);
    await forgetSeen(conn, project, workflowUid);
    await forgetUsage(conn, project, groupsOf(workflowUid));
    await dropMemories(conn, project, workflowUid);
    // Last, so that a repeated call drops both groups.
    await conn.command('hdel', deleting, workflowUid);
  });
}

/** The workflows whose deletion has begun and not ended. */
export function deletionsUnderWay(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<DeletedWorkflow[] | Unavailable> {
  return orUnavailable(async () => {
    const names = (await conn.command('hgetall', keysOf(project).deleting)) as Record<string, string>;
    return Object.entries(names).map(([workflowUid, name]) => ({ workflowUid, name }));
  });
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
