/**
 * Which unfinished runs are recorded: at most a thousand of each workflow, and as many of the project as the
 * operator allows. The others are in the run store alone until they end, or until one that is recorded ends.
 * Runs that end are recorded as the history says.
 */
import { orUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { REQUIRE_STORE } from '../../store/lua.ts';
import { argumentsOf, defineScript } from '../../store/script.ts';
import { isTerminal } from '../../api/phase.ts';
import type { RunState } from '../types/run.ts';
import { hasObject } from './priority.ts';

/** Recorded unfinished runs of one workflow, live runs and test runs each. */
const UNFINISHED_OF_WORKFLOW = 1_000;
/** The same of a project, before the operator has set it. */
const UNFINISHED_OF_PROJECT = 10_000;

const ADMIT = defineScript({
  flags: 'drains',
  keys: ['meta', 'unfinished', 'beyond', 'unrecorded'],
  args: ['of_workflow'],
  lists: { admitted: { args: ['group', 'run_id'], keys: ['run'] } },
  answers: 'for each run 1 where it may be recorded; the others are not to be recorded now',
  body: `
    ${REQUIRE_STORE}
    local of_project = tonumber(redis.call('HGET', meta, 'unfinished')) or ${UNFINISHED_OF_PROJECT}
    local function is_full(group)
      if redis.call('ZCARD', unfinished) >= of_project then return true end
      local from, to = '[' .. group .. ' ', '(' .. group .. '!'
      return #redis.call('ZRANGEBYLEX', unfinished, from, to, 'LIMIT', of_workflow - 1, 1) > 0
    end
    local answers = {}
    for index, group, run_id, run in admitted() do
      local entry = group .. ' ' .. run_id
      local phase, ended = unpack(redis.call('HMGET', run, 'phase', 'ended'))
      if not phase or ended or redis.call('ZSCORE', unfinished, entry) then
        answers[index] = 1
      elseif is_full(group) then
        redis.call('ZADD', beyond, 0, entry)
        redis.call('ZREM', unrecorded, run_id)
        answers[index] = 0
      else
        redis.call('ZREM', beyond, entry)
        redis.call('ZADD', unfinished, 0, entry)
        answers[index] = 1
      end
    end
    return answers
  `,
});

/**
 * The runs of these that are to be recorded. The others are unfinished and beyond the limit: nobody records
 * them before they advance or end, or a recorded run ends.
 */
export async function admitUnfinished(
  conn: RunStoreConnection,
  project: ProjectUid,
  states: readonly RunState[],
  ofWorkflow = UNFINISHED_OF_WORKFLOW,
): Promise<RunState[]> {
  const asked = states.filter((state) => !isTerminal(state.phase) && !hasObject(state));
  if (asked.length === 0) return [...states];
  const { meta, unfinished, beyond, unrecorded, run: keyOf } = keysOf(project);
  const args = argumentsOf(ADMIT, {
    of_workflow: ofWorkflow,
    admitted: asked.map(({ group, run }) => [group, run]),
  });
  const keys = [meta, unfinished, beyond, unrecorded, ...asked.map(({ run }) => keyOf(run))];
  const answers = await orUnavailable(async () => (await conn.script(ADMIT, keys, args)) as number[]);
  if (!Array.isArray(answers)) return [];
  const refused = new Set(asked.filter((_, index) => answers[index] === 0));
  return states.filter((state) => !refused.has(state));
}
