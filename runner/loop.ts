/**
 * Nodes that are executed for items (`forEach`), again (`repeat`) or as a body (`group`). The options nest in
 * this order: forEach ⊃ onError ⊃ repeat ⊃ retry ⊃ timeout ⊃ one execution. Pure, apart from timers.
 *
 * Keys in the run store: `<key of the node>.<item>` for an item, and `<key of the
 * node>.<item>.<repeat>.<attempt>/<ID>` for a node of an execution.
 */
import { createHash } from 'node:crypto';
import { previousOf } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import { addCheckpoint } from './changes.ts';
import {
  type ExecutionState,
  keyOf,
  locatedKey,
  type Loop,
  type Pass,
  type ScopeState,
  touch,
} from './executionState.ts';
import type { FailedEnd } from './failure.ts';
import { continueItem, isUsedUp, newIteration, openScope } from './iteration.ts';
import { addSample, countsOf, eventOfProgress, REPORT_MS, reportLoop, sentOfLoop } from './loopProgress.ts';
import { hasItemEnded, isComplete, outputOfLoop, failureOfResults } from './loopResults.ts';
import type { PlannedLoop } from './plan.ts';
import { scopeOf } from './references.ts';
import { endNode, succeed } from './transitions.ts';
import { addTimer } from './waits.ts';

/** Hexadecimal digits. */
const HASH_LENGTH = 16;

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
    ...(items && plan.readsVariables && scope === state.root && { itemsHash: hashOf(items) }),
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

function hashOf(items: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(items)).digest('hex').slice(0, HASH_LENGTH);
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
    if (loop.hasNews && performance.now() - loop.reportedAt >= REPORT_MS) reportLoop(pass, loop);
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

function endLoop(pass: Pass, loop: Loop, halt: FailedEnd | undefined): void {
  const { state, now } = pass;
  const { key, scope, id } = loop;
  scope.loops.delete(id);
  addSample(state, loop);
  const failure = loop.failure ?? (isComplete(loop) ? failureOfResults(loop) : halt);
  // A run that resumes this one keeps the items of the loop that failed.
  loop.isOver = !failure || scope !== state.root;
  if (loop.isOver) state.dropped.push(...loop.storedKeys);
  const counts = { ...countsOf(loop), ...sentOfLoop(state, loop) };
  if (failure) endNode(state, key, failure, now, counts);
  else succeed(state, key, { output: outputOfLoop(loop) }, now, counts);
}
