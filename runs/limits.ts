/**
 * What the operator sets, and scripts obey: limits of workflows, quotas and the write budget of a project.
 */
import { doneOrUnavailable, type Done, type RunStoreConnection } from '../store/connection.ts';
import { groupsOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { REQUIRE_STORE, REQUIRE_STORE_OR_SEEDING, type Seeding } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { budgetFields } from './budget.ts';
import { ENQUEUE } from './lua.ts';
import { SUMMARY_OVERHEAD_BYTES } from './room.ts';
import type { WorkflowLimits } from './types/limits.ts';

/** Runs over the limit that one call makes ready. */
const PAGE = 500;

/**
 * `recount()`: somebody removed the key of the group by hand. Counts its slots, runs and summaries from their
 * indexes. Runs that ended before are in no total any more.
 */
const RECOUNT = defineFragment({
  needs: ['ready', 'overLimit', 'parked', 'claims', 'wf', 'runs', 'summaries', 'group'],
  gives: ['recount'],
  lua: `
local function recount()
  local listed = redis.call('ZRANGE', runs, 0, -1, 'WITHSCORES')
  local active, waiting, ended, bytes = 0, 0, 0, 0
  for index = 1, #listed, 2 do
    local name, accepted = listed[index], listed[index + 1]
    local entry = group .. ' ' .. accepted .. ' ' .. name
    if redis.call('HEXISTS', claims, name) == 1 or redis.call('ZSCORE', ready, entry) then
      active = active + 1
    elseif redis.call('ZSCORE', overLimit, entry) or redis.call('ZSCORE', parked, entry) then
      waiting = waiting + 1
    end
  end
  for _, count in ipairs(redis.call('HMGET', wf, 'Succeeded', 'Failed', 'Cancelled')) do
    ended = ended + tonumber(count or 0)
  end
  for _, summary in ipairs(redis.call('HVALS', summaries)) do
    bytes = bytes + ${SUMMARY_OVERHEAD_BYTES} + #summary
  end
  redis.call('HSET', wf, 'active', active, 'accepted', active + waiting + ended, 'summaries', bytes)
end
`,
});

/**
 * Sets the limits, and makes the runs ready that are not over the limit any more. A suspended workflow has
 * the limit 0, so that every script that starts or resumes a run obeys it.
 */
const LIMIT = defineScript({
  flags: 'drains',
  transitions: ['overLimit > ready'],
  keys: ['meta', 'ready', 'overLimit', 'parked', 'claims', 'wf', 'runs', 'summaries'],
  // `on_failure`: the workflow that a failed run starts, as JSON; empty: none.
  args: ['group', 'limit', 'seeding', 'on_failure'],
  lists: { fields: { args: ['name', 'value'] } },
  answers: '1 where further runs are to be made ready',
  body: `
    ${REQUIRE_STORE_OR_SEEDING}
    -- A reconcile that began before the deletion must not lift its mark.
    if redis.call('HEXISTS', wf, 'deleted') == 1 then return 0 end
    if redis.call('HEXISTS', wf, 'policy') == 0 and redis.call('EXISTS', runs, summaries) > 0 then
      ${RECOUNT}
      recount()
    end
    redis.call('HSET', wf, unpack_fields())
    if limit == '' then
      redis.call('HDEL', wf, 'limit')
    else
      redis.call('HSET', wf, 'limit', limit)
    end
    if on_failure == '' then
      redis.call('HDEL', wf, 'onFailure')
    else
      redis.call('HSET', wf, 'onFailure', on_failure)
    end
    ${ENQUEUE}
    local active, own = unpack(redis.call('HMGET', wf, 'active', 'vt'))
    active = tonumber(active or 0)
    local count = math.min((tonumber(limit) or math.huge) - active, ${PAGE})
    if count <= 0 then return 0 end
    local entries = redis.call('ZRANGEBYLEX', overLimit, '[' .. group .. ' ', '(' .. group .. '!', 'LIMIT', 0, count)
    local virtual = redis.call('HGET', meta, 'v')
    for _, entry in ipairs(entries) do
      redis.call('ZREM', overLimit, entry)
      own = enqueue(entry, virtual, own)
    end
    redis.call('HSET', wf, 'active', active + #entries, 'vt', own or 0)
    return #entries == ${PAGE} and 1 or 0
  `,
});

/**
 * Sets what `submit` and `claim` obey for a workflow: the same for its live runs and for its test runs, which
 * are counted apart. Runs that only waited for a lower limit become ready. With a `seeding` also before the
 * project is open.
 */
export function setWorkflowLimits(
  conn: RunStoreConnection,
  project: ProjectUid,
  {
    workflowUid,
    suspended = false,
    concurrency,
    policy,
    deadlineMs,
    history,
    onFailure,
    budget,
  }: WorkflowLimits,
  seeding?: Seeding,
): Promise<Done> {
  const { meta, ready, overLimit, parked, claims, wf, runs, summaries } = keysOf(project);
  const keep = history ?? { succeeded: 10, failed: 10 };
  const limit = suspended ? 0 : (concurrency ?? '');
  const fields = {
    suspended: suspended ? 1 : 0,
    policy,
    timeout: deadlineMs,
    'keep:Succeeded': keep.succeeded,
    'keep:Failed': keep.failed,
    'keep:Cancelled': keep.failed,
    ...budgetFields(budget),
  };
  return doneOrUnavailable(async () => {
    for (const group of groupsOf(workflowUid)) {
      const keys = [meta, ready, overLimit, parked, claims, wf(group), runs(group), summaries(group)];
      const args = argumentsOf(LIMIT, {
        group,
        limit,
        seeding: seeding?.token ?? '',
        // The failures of test runs start nothing.
        on_failure: onFailure && group === workflowUid ? JSON.stringify(onFailure) : '',
        fields: Object.entries(fields),
      });
      let more: unknown = 1;
      while (more === 1) more = await conn.script(LIMIT, keys, args);
    }
  });
}

const TUNE = defineScript({
  flags: 'drains',
  keys: ['meta'],
  lists: { fields: { args: ['name', 'value'] } },
  answers: 'how many fields are new',
  body: `
    ${REQUIRE_STORE}
    return redis.call('HSET', meta, unpack_fields())
  `,
});

/** How many writes a second the project's runs may cost the API server. */
export function setWriteBudget(
  conn: RunStoreConnection,
  project: ProjectUid,
  perSecond: number,
): Promise<Done> {
  return doneOrUnavailable(() => conn.script(TUNE, [keysOf(project).meta], ['rate', perSecond]));
}

/** Limits, in bytes unless said otherwise; what is left out stays as it is. */
export type Quotas = {
  /** Above so many bytes of runs `submit` refuses. */
  quota: number;
  /**
   * A run is claimed only where those that are claimed, and this one, can grow as expected below so many
   * bytes of runs.
   */
  claimQuota: number;
  /** Above so many bytes of dedupe keys `submit` refuses events that have a key. */
  keyQuota: number;
  /** How many unfinished runs may be recorded. */
  unfinished: number;
};

export function setQuotas(
  conn: RunStoreConnection,
  project: ProjectUid,
  quotas: Partial<Quotas>,
): Promise<Done> {
  const fields = Object.entries(quotas).flatMap(([name, bytes]) => [name, Math.floor(bytes)]);
  return doneOrUnavailable(() => conn.script(TUNE, [keysOf(project).meta], fields));
}
