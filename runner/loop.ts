/**
 * Nodes that are executed for items (`forEach`), again (`repeat`) or as a body (`group`). The options nest in
 * this order: forEach ⊃ onError ⊃ repeat ⊃ retry ⊃ timeout ⊃ one execution. Pure, apart from timers.
 *
 * Keys in the run store: `<key of the node>.<item>` for an item, and `<key of the
 * node>.<item>.<repeat>.<attempt>/<ID>` for a node of an execution.
 */
import { evaluateCondition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import type { Scope } from '../api/expression/scope.ts';
import { previousOf } from '../api/graph.ts';
import { StepError, type FailureReason } from '../api/reasons.ts';
import type { NodeOutput } from '../api/value.ts';
import { setResult } from '../nodes/skills/set.ts';
import { VALUE_LIMIT_BYTES } from '../runs/advance.ts';
import type { ItemCounts, NodeState } from '../runs/types.ts';
import {
  addCheckpoint,
  addTimer,
  endNode,
  isEnded,
  isInItem,
  keyOf,
  locatedKey,
  newScope,
  scopeOf,
  succeed,
  touch,
  type ExecutionState,
  type Iteration,
  type Loop,
  type ScopeState,
} from './executionState.ts';
import { afterFailure, type FailedEnd, type ScopeFailure } from './failure.ts';
import type { PlannedLoop } from './plan.ts';

export type ScopeEnd = { kind: 'succeeded'; output: NodeOutput } | { kind: 'failed'; end: ScopeFailure };

/** One scheduling pass. */
export type Pass = {
  readonly state: ExecutionState;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** No further item starts after this time, on the monotonic clock. */
  readonly until: number;
  endedItems: number;
  /** Schedules the nodes of a scope. Returns its end, if it has ended. */
  decide(scope: ScopeState): ScopeEnd | undefined;
};

/** Ended items of one pass: they are stored together. */
const ITEMS_OF_PASS = 100;
const REPORT_MS = 250;
const MAX_FAILURES = 10;
const FAILURE_MESSAGE_LENGTH = 300;
/** A larger output of a node of a body is not shown in the record. */
const SAMPLE_BYTES = 16 * 1024;
/** The text of the output repeats its data. */
const RESULT_LIMIT_BYTES = Math.floor(VALUE_LIMIT_BYTES / 2) - 4_096;
const RESULT_LIMIT_KIB = Math.floor(RESULT_LIMIT_BYTES / 1024);

/** A loop in which no item has started. @throws ExpressionError or StepError if its items are invalid */
export function newLoop(state: ExecutionState, scope: ScopeState, id: string, plan: PlannedLoop): Loop {
  const items =
    plan.items && itemsOf(plan.items(scopeOf(state, scope, previousOf(scope.graph, id))), plan.batch);
  const isAround = state.plan.until?.around.has(id);
  const asked = isAround ? items?.slice(0, 1) : items;
  const total = asked ? asked.length : 1;
  return {
    scope,
    id,
    key: keyOf(scope, id),
    plan,
    items: asked,
    total,
    next: 0,
    active: new Map(),
    ended: new Uint8Array(Math.ceil(total / 8)),
    succeeded: 0,
    failed: 0,
    failures: [],
    results: [],
    resultBytes: 2,
    isTooLarge: false,
    startsAt: 0,
    reportedAt: performance.now(),
    hasNews: false,
    isInDoubt: false,
    isOver: false,
    storedKeys: new Set(),
  };
}

/** Adds the loop to its scope. */
export function attachLoop(state: ExecutionState, loop: Loop): void {
  const { scope, id } = loop;
  scope.phases.set(id, 'Running');
  scope.loops.set(id, loop);
  locatedKey(state, scope, id);
}

function itemsOf(value: unknown, batch: number): readonly unknown[] {
  if (!Array.isArray(value)) {
    const kind = value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
    throw new StepError('InvalidParameters', `forEach.items is ${kind}, not an array`);
  }
  if (batch === 1) return value;
  return Array.from({ length: Math.ceil(value.length / batch) }, (_, index) =>
    value.slice(index * batch, (index + 1) * batch),
  );
}

/**
 * Continues the items in progress and starts further ones. Ends the node when all items have ended; returns
 * whether it did. `halt`: no item starts any more, and items in progress end like this.
 */
export function advanceLoop(pass: Pass, loop: Loop, halt: FailedEnd | undefined): boolean {
  for (const iteration of loop.active.values()) continueItem(pass, iteration, halt);
  if (!halt) startItems(pass, loop);
  if (loop.active.size > 0) {
    if (loop.hasNews && performance.now() - loop.reportedAt >= REPORT_MS) report(pass, loop);
    return false;
  }
  if (!halt && !loop.failure && loop.next < loop.total) return false;
  endLoop(pass, loop, halt);
  return true;
}

function startItems(pass: Pass, loop: Loop): void {
  const { state } = pass;
  while (!loop.failure && loop.active.size < loop.plan.maxParallel && loop.next < loop.total) {
    if (isUsedUp(pass)) {
      state.hasMore = true;
      touch(loop.scope);
      return;
    }
    if (hasItemEnded(loop, loop.next) || loop.active.has(loop.next)) {
      loop.next += 1;
      continue;
    }
    const delayMs = loop.startsAt - performance.now();
    if (delayMs > 0) return awaitNextItem(state, loop, delayMs);
    loop.startsAt = performance.now() + loop.plan.delayMs;
    const index = loop.next;
    loop.next += 1;
    const iteration = newIteration(loop, index);
    loop.active.set(index, iteration);
    loop.hasNews = true;
    openScope(state, iteration);
    continueItem(pass, iteration, undefined);
  }
}

/** Whether the next items are left to the next pass, so that other runs continue and the store keeps up. */
function isUsedUp({ endedItems, until }: Pass): boolean {
  return endedItems >= ITEMS_OF_PASS || (endedItems > 0 && performance.now() > until);
}

function awaitNextItem(state: ExecutionState, loop: Loop, delayMs: number): void {
  if (state.timers.has(loop.key)) return;
  addTimer(state, loop.key, { delayMs, isStored: true }, () => touch(loop.scope));
  state.waits.push({ id: loop.key, delayMs });
  if (loop.active.size > 0) return;
  loop.hasNews = false;
  // Only a waiting node gets its time back after a takeover.
  const { scope, id } = loop;
  const { firstAt = Date.now() } = scope.progress.get(id) ?? {};
  const counts = { ...countsOf(loop), ...eventOfProgress(loop) };
  addCheckpoint(state, scope, { id, phase: 'Waiting', attempts: 1, startedAt: firstAt, ...counts });
}

/** One live event per 250 ms. */
function eventOfProgress(loop: Loop): Pick<NodeState, 'isProgress' | 'isSilent'> {
  const now = performance.now();
  if (now - loop.reportedAt < REPORT_MS) return { isSilent: true };
  loop.reportedAt = now;
  return { isProgress: true };
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
    addTimer(state, timeoutKey(scope), { delayMs, isStored: false }, () => {
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

function continueItem(pass: Pass, iteration: Iteration, halt: FailedEnd | undefined): void {
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
  noteSample(loop, iteration, scope, end);
  closeScope(state, iteration, scope);
  if (end.kind === 'failed') afterFailedExecution(pass, iteration, end, halt);
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
  halt: FailedEnd | undefined,
): void {
  const { state } = pass;
  const { step } = state.plan.steps.get(iteration.loop.id) ?? {};
  const { phase, reason, message } = failed.end;
  if (halt || step?.kind !== 'group' || phase !== 'Failed') return endItem(pass, iteration, failed);
  const error = new StepError(reason as FailureReason, message, { retryable: true });
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

/** Collects the result of an execution of the item. */
export function collectExecution(iteration: Iteration, value: unknown): void {
  iteration.collectedBytes += bytesOf(value);
  if (iteration.collectedBytes <= RESULT_LIMIT_BYTES) iteration.collected.push(value);
  else iteration.collected.length = 0;
}

/** The end of an item whose condition holds. */
function endOfRepeat({ loop, repeat, collected, collectedBytes }: Iteration, output: NodeOutput): ScopeEnd {
  if (!loop.plan.repeat?.collects) return { kind: 'succeeded', output };
  if (collectedBytes <= RESULT_LIMIT_BYTES) return { kind: 'succeeded', output: setResult(collected).output };
  const message = `repeat.until holds, but the results of ${repeat + 1} executions exceed ${RESULT_LIMIT_KIB} KiB: set repeat.collect to None, or let each execution return less`;
  return { kind: 'failed', end: { phase: 'Failed', reason: 'OutputTooLarge', message } };
}

/** The scope of `repeat.until`: that of the node, in which the node itself is the output of the execution. */
function resultScope(state: ExecutionState, iteration: Iteration, output: NodeOutput): Scope {
  const { loop, item, index } = iteration;
  const outer = scopeOf(state, loop.scope, previousOf(loop.scope.graph, loop.id));
  return {
    ...outer,
    ...(loop.items && { item, index }),
    node: (id) => (id === loop.id ? output : outer.node(id)),
  };
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

/** Counts an ended item, and collects its result. */
export function noteItemEnd(
  state: ExecutionState,
  loop: Loop,
  index: number,
  result: { value: unknown } | { end: FailedEnd },
): void {
  loop.ended[index >> 3] = (loop.ended[index >> 3] ?? 0) | (1 << (index & 7));
  loop.hasNews = true;
  if ('value' in result) {
    loop.succeeded += 1;
    return collect(loop, index, result.value);
  }
  const { phase, reason, message } = result.end;
  loop.failed += 1;
  if (loop.failures.length < MAX_FAILURES)
    loop.failures.push({ index, reason, message: message.slice(0, FAILURE_MESSAGE_LENGTH) });
  const continues = state.plan.steps.get(loop.id)?.step.onError === 'Continue' && loop.items !== undefined;
  if (phase === 'Failed' && continues) return collect(loop, index, { error: { reason, message } });
  const text = loop.items ? `item ${index}: ${message}` : message;
  // A run that resumes this one executes items of a failed loop again, but needs a decision about an Unknown
  // one.
  const isWorse = phase === 'Unknown' && loop.failure?.phase !== 'Unknown';
  if (!loop.failure || isWorse) loop.failure = { phase, reason, message: text };
}

function collect(loop: Loop, index: number, value: unknown): void {
  if (!loop.items || !loop.plan.collects || loop.isTooLarge) return;
  loop.results[index] = value;
  loop.resultBytes += bytesOf(value);
  if (loop.resultBytes <= RESULT_LIMIT_BYTES) return;
  loop.isTooLarge = true;
  loop.results.length = 0;
}

/** As an element of an array in JSON. */
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? 'null') + 1;

/** Whether the item has ended. */
export function hasItemEnded({ ended }: Loop, index: number): boolean {
  return ((ended[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

/** The result of an item: its data, or its text if it has none. */
function resultOf({ data_content, text_content }: NodeOutput): unknown {
  return data_content ?? (text_content === '' ? null : text_content);
}

function endLoop(pass: Pass, loop: Loop, halt: FailedEnd | undefined): void {
  const { state, now } = pass;
  const { key, scope, id } = loop;
  scope.loops.delete(id);
  addSample(state, loop);
  const failure = loop.failure ?? (isComplete(loop) ? tooLarge(loop) : halt);
  // A run that resumes this one keeps the items of the loop that failed.
  loop.isOver = !failure || scope !== state.root;
  if (loop.isOver) state.dropped.push(...loop.storedKeys);
  if (failure) endNode(state, key, failure, now, countsOf(loop));
  else succeed(state, key, { output: outputOf(loop) }, now, countsOf(loop));
}

const isComplete = ({ succeeded, failed, total }: Loop) => succeeded + failed === total;

function tooLarge(loop: Loop): FailedEnd | undefined {
  if (!loop.isTooLarge) return undefined;
  const message = `all ${loop.total} items have ended, but their results exceed ${RESULT_LIMIT_KIB} KiB: set forEach.collect to None, or let each item return less`;
  return { phase: 'Failed', reason: 'OutputTooLarge', message };
}

function outputOf(loop: Loop): NodeOutput {
  if (!loop.items) return loop.results[0] as NodeOutput;
  if (!loop.plan.collects) return { text_content: '', data_content: null };
  return setResult(loop.results).output;
}

function report({ state, now }: Pick<Pass, 'state' | 'now'>, loop: Loop): void {
  loop.hasNews = false;
  if (!loop.items || isInItem(loop.scope)) return;
  const { scope, id } = loop;
  const { firstAt = now } = scope.progress.get(id) ?? {};
  addSample(state, loop);
  const counts = { ...countsOf(loop), ...eventOfProgress(loop) };
  addCheckpoint(state, scope, { id, phase: 'Running', attempts: 1, startedAt: firstAt, ...counts });
}

/** Stores the counts of loops that have changed: of a run that is parked, the record has them. */
export function reportLoops(state: ExecutionState, now: number): void {
  for (const loop of state.root.loops.values()) if (loop.hasNews) report({ state, now }, loop);
}

/** How far the loop is, for a checkpoint. */
export function countsOf(loop: Loop): { items?: ItemCounts } {
  const { items, total, succeeded, failed, active, failures, ended } = loop;
  if (!items) return {};
  const bits = Buffer.from(ended).toString('base64');
  return { items: { total, succeeded, failed, running: active.size, failures: [...failures], ended: bits } };
}

function noteSample(loop: Loop, { index }: Iteration, scope: ScopeState, end: ScopeEnd): void {
  if (loop.sample?.hasFailed) return;
  loop.sample = { index, scope, hasFailed: end.kind === 'failed' };
}

/** Stores the nodes of one execution, for the record. */
function addSample(state: ExecutionState, loop: Loop): void {
  const { sample, items } = loop;
  if (!sample || isInItem(loop.scope)) return;
  const { scope, index } = sample;
  for (const { id, trigger } of scope.graph.nodes) {
    const phase = scope.phases.get(id);
    if (trigger || id === loop.id || !isEnded(phase) || phase === undefined) continue;
    const { tried = 1, firstAt } = scope.progress.get(id) ?? {};
    state.checkpoints.push({
      id,
      phase,
      attempts: tried,
      ...(firstAt !== undefined && { startedAt: firstAt }),
      ...(items && { item: index }),
      ...shownOutput(scope.outputs.get(id)),
      isSilent: true,
    });
  }
}

/** What the record shows of an output: its error, or the output itself if it is small. */
function shownOutput(
  output: (NodeOutput & { error?: unknown }) | undefined,
): Pick<NodeState, 'output' | 'reason' | 'message'> {
  const error = output?.error as { reason?: string; message?: string } | undefined;
  if (error) return { reason: error.reason ?? 'Internal', message: error.message ?? '' };
  return output && JSON.stringify(output).length <= SAMPLE_BYTES ? { output } : {};
}
