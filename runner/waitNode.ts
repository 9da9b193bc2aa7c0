/** Wait nodes: how long one waits, and how it begins to wait for a time or a callback. */
import { parseRfc3339 } from '../api/cel/times.ts';
import { boundedDuration, DURATION_BOUNDS, parseDuration } from '../api/duration.ts';
import { StepError } from '../api/reasons.ts';
import type { WaitStep } from '../api/step.ts';
import { type ExecutionState, locatedKey, type Pass, type ScopeState } from './executionState.ts';
import { mockedNode } from './testRun.ts';
import { endNode, succeed } from './transitions.ts';
import { beginWait } from './waits.ts';

/** How long a node waits for its callback, unless it says so itself. */
const DEFAULT_CALLBACK_TIMEOUT = '24h';

/**
 * Begins the wait of a node, or ends it, also because a mock stands for it. `fields`: its evaluated fields.
 * Returns whether it has ended.
 */
export function startWait(
  { state, now }: Pick<Pass, 'state' | 'now'>,
  scope: ScopeState,
  id: string,
  { wait, fields }: { wait: WaitStep; fields: Record<string, unknown> },
): boolean {
  const { step } = state.plan.steps.get(id) ?? {};
  const mocked = step && mockedNode(state.claim.state, step, fields);
  if (mocked) {
    succeed(state, locatedKey(state, scope, id), mocked, now);
    return true;
  }
  if (wait.callback) return startCallback(state, scope, id, { ...wait.callback, now });
  const hasWaited = scope.progress.get(id)?.hasWaited === true;
  const delayMs = hasWaited ? 0 : waitMs(wait, fields, now);
  if (delayMs > 0) {
    beginWait(state, scope, id, { delayMs, now, waitingFor: { time: true } });
    return false;
  }
  const until = new Date(now).toISOString();
  const output = { text_content: until, data_content: { until } };
  succeed(state, locatedKey(state, scope, id), { output }, now);
  return true;
}

/**
 * The milliseconds from `now` on; 0 for a time in the past. `fields`: the evaluated fields of the node.
 * @throws StepError `InvalidParameters` if `until` is no time, or too far in the future
 */
function waitMs({ duration }: WaitStep, { until }: Record<string, unknown>, now: number): number {
  if (duration !== undefined) return boundedDuration(duration, DURATION_BOUNDS.wait);
  const time = typeof until === 'string' ? parseRfc3339(until.trim()) : undefined;
  if (time === undefined) {
    const message =
      'wait.until is not a time in RFC 3339: write it with a time zone, such as 2026-05-01T08:00:00Z';
    throw new StepError('InvalidParameters', message);
  }
  const { most } = DURATION_BOUNDS.wait;
  if (time - now > parseDuration(most)) {
    const message = `wait.until is more than ${most} ahead: wait for at most ${most}`;
    throw new StepError('InvalidParameters', message);
  }
  return Math.max(0, time - now);
}

/** Begins the wait of a node for its callback, or ends the node. Returns whether it has ended. */
function startCallback(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  { timeout = DEFAULT_CALLBACK_TIMEOUT, now }: { timeout?: string | undefined; now: number },
): boolean {
  const key = locatedKey(state, scope, id);
  const signal = state.signals.values.get(key);
  if (signal === undefined) {
    state.signals.awaiting.add(key);
    const delayMs = boundedDuration(timeout, DURATION_BOUNDS.callback);
    beginWait(state, scope, id, { delayMs, now, waitingFor: { callback: true } });
    return false;
  }
  if (isObject(signal) && 'body' in signal) {
    const { body } = signal;
    const text = typeof body === 'string' ? body : '';
    // Its body is stored in the output now. So the bodies for all items of a loop never add up.
    state.consumed.push(key);
    state.signals.values.delete(key);
    succeed(state, key, { output: { text_content: text, data_content: body } }, now);
    return true;
  }
  const message = `no call came within ${timeout}: check the caller, or set a longer wait.callback.timeout`;
  endNode(state, key, { phase: 'Failed', reason: 'CallbackTimeout', message }, now);
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
