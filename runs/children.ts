/**
 * Child runs: the parts of scripts that start a child run, and that pass its end to the parent.
 *
 * A parent that waits has each unfinished child in `children:<parent>`. The end of the child is a signal of
 * the parent (`signals.ts`), in the same script; its field is the name of the child, because a retry of the
 * node is another child. The end of the parent requests the end of these children.
 */
import { defineFragment } from '../store/script.ts';
import type { Submitted } from './types/submission.ts';

/** How many descendants a run without a parent may have. */
const DESCENDANT_LIMIT = 10_000;
/** How long the descendants are counted after the last one was started, in seconds. */
const COUNTED_S = 3_600;

const CHILD_OUTCOMES = ['fenced', 'stopped', 'too-many'] as const;

/**
 * Why `submitChild` refuses a child that `submit` would accept. `fenced`: the claim of the parent is not the
 * caller's. `stopped`: the parent is to be cancelled. `too-many`: the root has as many descendants as it may
 * have.
 */
export type ChildOutcome = { outcome: (typeof CHILD_OUTCOMES)[number] };

/** Whether only a child can have this outcome. */
export function isChildOutcome(submitted: Submitted | ChildOutcome): submitted is ChildOutcome {
  return CHILD_OUTCOMES.some((outcome) => outcome === submitted.outcome);
}

/** Ends `submit` where the caller does not hold the parent, or the parent is to be cancelled. */
export const REQUIRE_PARENT = defineFragment({
  needs: ['claims', 'cancels', 'parent_run', 'parent_token'],
  lua: `
if parent_run ~= '' then
  if redis.call('HGET', claims, parent_run) ~= parent_token then return {'fenced'} end
  if redis.call('SISMEMBER', cancels, parent_run) == 1 then return {'stopped'} end
end
`,
});

/** Ends `submit` where the root has too many descendants. */
export const LIMIT_DESCENDANTS = defineFragment({
  needs: ['descendants', 'parent_run'],
  lua: `
if parent_run ~= '' and tonumber(redis.call('GET', descendants) or 0) >= ${DESCENDANT_LIMIT} then return {'too-many'} end
`,
});

/**
 * `tell_parent(result)`: the end of a child is a signal of its parent, if that waits for it.
 */
export const TELL_PARENT = defineFragment({
  needs: ['run', 'run_id', 'parent', 'parentWf', 'parentSignals', 'siblings', 'signal_run'],
  gives: ['tell_parent'],
  lua: `
local function tell_parent(result)
  local name = redis.call('HGET', run, 'parent')
  if not name then return end
  signal_run(parent, parentWf, parentSignals, name, run_id, result)
  redis.call('SREM', siblings, run_id)
end
`,
});

/** Counts the child, and stores whether its parent waits, which the scripts that end it read. */
export const ADD_CHILD = defineFragment({
  needs: ['run', 'run_id', 'siblings', 'descendants', 'parent_run', 'parent_waits'],
  lua: `
if parent_run ~= '' then
  redis.call('SET', descendants, tonumber(redis.call('GET', descendants) or 0) + 1, 'EX', ${COUNTED_S})
  if parent_waits == '1' then
    redis.call('HSET', run, 'parent', parent_run)
    redis.call('SADD', siblings, run_id)
  end
end
`,
});
