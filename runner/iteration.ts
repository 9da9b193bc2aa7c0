/** One item of a loop: its executions, one after the other, for `repeat` and for `retry` of a group. */
import { evaluateCondition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import { type Scope, withMembers } from '../api/expression/scope.ts';
import { previousOf } from '../api/graph.ts';
import { type FailureReason, StepError } from '../api/reasons.ts';
import type { NodeOutput } from '../api/value.ts';
import type { NodeState } from '../runs/types/node.ts';
import {
  type ExecutionState,
  type Iteration,
  type Loop,
  newScope,
  type Pass,
  type ScopeEnd,
  type ScopeState,
  touch,
} from './executionState.ts';
import { afterFailure, type FailedEnd } from './failure.ts';
import { noteSample } from './loopProgress.ts';
import {
  collectExecution,
  noteItemEnd,
  RESULT_LIMIT_BYTES,
  RESULT_LIMIT_KIB,
  resultOf,
} from './loopResults.ts';
import { scopeOf } from './references.ts';
import { addTimer } from './waits.ts';

/** Ended items of one pass: they are stored together. */
const ITEMS_OF_PASS = 100;

/** Whether the next items are left to the next pass, so that other runs continue and the store keeps up. */
export function isUsedUp({ endedItems, until }: Pass): boolean {
  return endedItems >= ITEMS_OF_PASS || (endedItems > 0 && performance.now() > until);
}

/** An item that has not started. */
export function newIteration(loop: Loop, index: number): Iteration {
  const { plan, items } = loop;
  return {
    loop,
    index,
    item: items?.[index],
    repeat: 0,
    attempt: 1,
    previous: plan.repeat?.initial ?? null,
    collected: [],
    collectedBytes: 2,
  };
}

/** Begins an execution of the item, or continues one whose timeout has been passing. */
export function openScope(state: ExecutionState, iteration: Iteration): ScopeState {
  const { loop, index, repeat, attempt } = iteration;
  const path = `${loop.key}.${index}.${repeat}.${attempt}`;
  const scope = newScope(path, loop.plan.body, { parent: loop.scope, iteration });
  iteration.scope = scope;
  const timeoutMs = timeoutOf(state, loop);
  if (timeoutMs > 0) {
    const { leftMs } = iteration;
    const delayMs = leftMs ?? timeoutMs;
    const message = `the group took longer than its timeout of ${timeoutMs / 1_000} s`;
    const stored = { isStored: true, storedAs: itemKey(iteration) };
    addTimer(state, timeoutKey(scope), { delayMs, ...stored }, () => {
      scope.failure ??= { phase: 'Failed', reason: 'Timeout', message };
      state.expired.push(scope);
      touch(scope);
    });
    if (leftMs === undefined) {
      storeItem(state, iteration, { phase: 'Running' });
      state.waits.push({ id: itemKey(iteration), delayMs });
    }
    delete iteration.leftMs;
  }
  return scope;
}

/** The timeout of one execution of the group; 0 if it has none. */
function timeoutOf({ plan }: ExecutionState, { id }: Loop): number {
  const { step } = plan.steps.get(id) ?? {};
  return step?.kind === 'group' ? step.timeoutMs : 0;
}

const timeoutKey = ({ path }: ScopeState) => `${path}!`;

export function continueItem(pass: Pass, iteration: Iteration, halt: FailedEnd | undefined): void {
  const { state } = pass;
  const { loop } = iteration;
  if (!iteration.scope) {
    if (halt) {
      const lastEnd = state.halt?.phase === 'Cancelled' ? undefined : iteration.lastEnd;
      return endItem(pass, iteration, { kind: 'failed', end: lastEnd ?? halt });
    }
    if (state.timers.has(itemKey(iteration))) return;
    if (isUsedUp(pass)) {
      state.hasMore = true;
      touch(loop.scope);
      return;
    }
    openScope(state, iteration);
  }
  const { scope } = iteration;
  if (!scope || (!scope.hasChanged && !halt)) return;
  const end = pass.decide(scope);
  if (!end) return;
  noteSample(state, iteration, scope, end);
  closeScope(state, iteration, scope);
  if (end.kind === 'failed') afterFailedExecution(pass, iteration, end, { halt, hasDoubt: scope.hasDoubt });
  else afterExecution(pass, iteration, end.output);
}

function closeScope(state: ExecutionState, iteration: Iteration, scope: ScopeState): void {
  scope.isOver = true;
  state.timers.delete(timeoutKey(scope));
  state.dropped.push(...scope.storedKeys);
  delete iteration.scope;
}

function afterFailedExecution(
  pass: Pass,
  iteration: Iteration,
  failed: Extract<ScopeEnd, { kind: 'failed' }>,
  { halt, hasDoubt = false }: { halt: FailedEnd | undefined; hasDoubt?: boolean | undefined },
): void {
  const { state } = pass;
  const { step } = state.plan.steps.get(iteration.loop.id) ?? {};
  const { phase, reason, message } = failed.end;
  if (halt || step?.kind !== 'group' || phase !== 'Failed') return endItem(pass, iteration, failed);
  const error = new StepError(reason as FailureReason, message, { retryable: !hasDoubt });
  const next = afterFailure(error, iteration.attempt, step.retry);
  if (next.kind === 'end') return endItem(pass, iteration, failed);
  iteration.attempt += 1;
  iteration.lastEnd = next.end;
  awaitExecution(state, iteration, next.delayMs);
}

function afterExecution(pass: Pass, iteration: Iteration, output: NodeOutput): void {
  const { loop } = iteration;
  const { repeat } = loop.plan;
  if (!repeat) return endItem(pass, iteration, { kind: 'succeeded', output });
  const isOnce = pass.state.plan.until?.around.has(loop.id);
  const value = resultOf(output);
  if (repeat.collects) collectExecution(iteration, value);
  try {
    if (isOnce || evaluateCondition(repeat.until, resultScope(pass.state, iteration, output)))
      return endItem(pass, iteration, endOfRepeat(iteration, output));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const end: FailedEnd = {
      phase: 'Failed',
      reason: 'ConditionFailed',
      message: `repeat.until: ${error.message}`,
    };
    return endItem(pass, iteration, { kind: 'failed', end });
  }
  if (iteration.repeat + 1 >= repeat.limit) {
    const message = `repeat.until did not hold after ${repeat.limit} executions, the limit of the node`;
    const end: FailedEnd = { phase: 'Failed', reason: 'RepeatLimit', message };
    return endItem(pass, iteration, { kind: 'failed', end });
  }
  iteration.repeat += 1;
  iteration.attempt = 1;
  iteration.previous = output.data_content;
  delete iteration.lastEnd;
  awaitExecution(pass.state, iteration, repeat.delayMs);
}

/** The end of an item whose condition holds. */
function endOfRepeat({ loop, repeat, collected, collectedBytes }: Iteration, output: NodeOutput): ScopeEnd {
  if (!loop.plan.repeat?.collects) return { kind: 'succeeded', output };
  const text_content = `Executed ${repeat + 1} time${repeat === 0 ? '' : 's'}.`;
  if (collectedBytes <= RESULT_LIMIT_BYTES)
    return { kind: 'succeeded', output: { text_content, data_content: collected } };
  const message = `repeat.until holds, but the results of ${repeat + 1} executions exceed ${RESULT_LIMIT_KIB} KiB: set repeat.collect to None, or let each execution return less`;
  return { kind: 'failed', end: { phase: 'Failed', reason: 'OutputTooLarge', message } };
}

/** The scope of `repeat.until`: that of the node, in which the node itself is the output of the execution. */
function resultScope(state: ExecutionState, iteration: Iteration, output: NodeOutput): Scope {
  const { loop, item, index } = iteration;
  const outer = scopeOf(state, loop.scope, previousOf(loop.scope.graph, loop.id));
  return withMembers(outer, {
    ...(loop.items && { item, index }),
    node: (id) => (id === loop.id ? output : outer.node(id)),
  });
}

/** Stores what the next execution of the item needs, and waits for its time. */
function awaitExecution(state: ExecutionState, iteration: Iteration, delayMs: number): void {
  const key = itemKey(iteration);
  const { lastEnd } = iteration;
  storeItem(state, iteration, {
    phase: delayMs > 0 ? 'Waiting' : 'Running',
    ...(lastEnd && { reason: lastEnd.reason, message: lastEnd.message }),
  });
  if (delayMs > 0) {
    state.waits.push({ id: key, delayMs });
    addTimer(state, key, { delayMs, isStored: true }, () => touch(iteration.loop.scope));
  } else {
    // Not what the execution before left of its time: the runner may die before the next one.
    const timeoutMs = timeoutOf(state, iteration.loop);
    if (timeoutMs > 0) state.waits.push({ id: key, delayMs: timeoutMs });
    state.hasMore = true;
    touch(iteration.loop.scope);
  }
}

/** Stores the item in progress, always with all that its current execution reads. */
function storeItem(state: ExecutionState, iteration: Iteration, node: Partial<NodeState>): void {
  const { loop, attempt, repeat, previous, collected } = iteration;
  state.itemCheckpoints.push({
    owner: loop,
    node: {
      id: itemKey(iteration),
      phase: 'Running',
      attempts: attempt,
      repeat,
      ...node,
      ...(repeat > 0 && { output: { text_content: '', data_content: previous } }),
      ...(collected.length > 0 && { collected: [...collected] }),
      isSilent: true,
    },
  });
}

/** The key of an item in the run store. */
export function itemKey({ loop, index }: Iteration): string {
  return `${loop.key}.${index}`;
}

function endItem(pass: Pass, iteration: Iteration, end: ScopeEnd): void {
  const { state } = pass;
  const { loop, index } = iteration;
  state.timers.delete(itemKey(iteration));
  loop.active.delete(index);
  pass.endedItems += 1;
  const value = end.kind === 'succeeded' ? resultOf(end.output) : undefined;
  noteItemEnd(state, loop, index, end.kind === 'succeeded' ? { value } : end);
  touch(loop.scope);
  if (!loop.items) {
    if (end.kind === 'succeeded') loop.results[0] = end.output;
    return;
  }
  state.itemCheckpoints.push({
    owner: loop,
    node: {
      id: itemKey(iteration),
      attempts: iteration.attempt,
      isSilent: true,
      ...(end.kind === 'succeeded'
        ? {
            phase: 'Succeeded',
            ...(loop.plan.collects &&
              !loop.isTooLarge && {
                output: { text_content: '', data_content: value },
              }),
          }
        : { phase: end.end.phase, reason: end.end.reason, message: end.end.message }),
    },
  });
}
