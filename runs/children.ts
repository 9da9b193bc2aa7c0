/**
 * Child runs: what the scripts that start and end runs do for a run that a node of another run started.
 *
 * A parent that waits has each unfinished child in `children:<parent>`. The end of the child is a signal of
 * the parent (`signals.ts`), in the same script; its field is the name of the child, because a retry of the
 * node is another child. The end of the parent requests the end of these children.
 */
import { defineFragment } from '../store/script.ts';
import type { Submitted } from './types.ts';

/** How many descendants a run without a parent may have. */
export const DESCENDANT_LIMIT = 10_000;
/** How long the descendants are counted after the last one was started, in seconds. */
const COUNTED_S = 3_600;

/** Why `submitChild` refuses a child that `submit` would accept. */
export type ChildOutcome = {
  /**
   * `fenced`: the claim of the parent is not the caller's. `stopped`: the parent shall be cancelled.
   * `too-many`: the root has `DESCENDANT_LIMIT` descendants.
   */
  outcome: 'fenced' | 'stopped' | 'too-many';
};

/** The answers of `submit` that only a child gets. */
export const CHILD_ANSWERS = {
  fenced: 'the claim of the parent is another one',
  stopped: 'the parent shall be cancelled',
  'too-many': 'the root has as many descendants as it may have',
} as const;

/** Whether only a child can have this outcome. */
export function isChildOutcome(submitted: Submitted | ChildOutcome): submitted is ChildOutcome {
  return submitted.outcome in CHILD_ANSWERS;
}

/** Ends `submit` where the caller does not hold the parent, or the parent shall be cancelled. */
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
 * `tell_parent(reason, message)`: the end of a child is a signal of its parent, if that waits for it. The keys
 * of the parent are those of the run where the caller does not know of it.
 */
export const TELL_PARENT = defineFragment({
  needs: [
    'run',
    'run_id',
    'phase',
    'output',
    'parent',
    'parentWf',
    'parentSignals',
    'siblings',
    'signal_run',
  ],
  gives: ['tell_parent'],
  lua: `
local function tell_parent(reason, message)
  local name = redis.call('HGET', run, 'parent')
  if not name or parent == run then return end
  local value = cjson.encode({phase = phase, reason = reason, message = message})
  if output ~= '' then value = string.sub(value, 1, -2) .. ',"output":' .. output .. '}' end
  signal_run(parent, parentWf, parentSignals, name, run_id, value)
  redis.call('SREM', siblings, run_id)
end
`,
});

/** Counts the child, and stores for the scripts that end it whether its parent waits. */
export const ADD_CHILD = defineFragment({
  needs: ['run', 'run_id', 'siblings', 'descendants', 'parent_run', 'parent_waits', 'parent_doubt'],
  lua: `
if parent_run ~= '' then
  if parent_doubt == '1' then redis.call('HSET', run, 'doubt', 1) end
  redis.call('INCR', descendants)
  redis.call('EXPIRE', descendants, ${COUNTED_S})
  if parent_waits == '1' then
    redis.call('HSET', run, 'parent', parent_run)
    redis.call('SADD', siblings, run_id)
  end
end
`,
});
