/**
 * Opens the loop of a node that is ready: for the first time, or again under another claim of the run. Then
 * items that have ended are not repeated, and items in progress continue.
 */
import { type FailureReason, StepError } from '../api/reasons.ts';
import type { NodeState } from '../runs/types/node.ts';
import { addCheckpoint, startOf } from './changes.ts';
import {
  type ExecutionState,
  isEnded,
  type Iteration,
  type Loop,
  type Pass,
  type ScopeState,
  touch,
} from './executionState.ts';
import type { FailedEnd } from './failure.ts';
import { itemKey, newIteration, openScope } from './iteration.ts';
import { attachLoop, newLoop } from './loop.ts';
import { countsOf } from './loopProgress.ts';
import { collectExecution, hasItemEnded, noteItemEnd } from './loopResults.ts';
import { restoreLost } from './restoreLost.ts';
import { delayUntil, restoreNode } from './restoreNode.ts';
import { addTimer } from './waits.ts';

/** The most items of a node in a run. */
const MAX_ITEMS = 10_000;

/**
 * Opens the loop. Its items are evaluated again, which gives the same ones as before.
 * @throws ExpressionError or StepError if its items are invalid
 */
export function openLoop({ state, now }: Pass, scope: ScopeState, id: string): void {
  const { loop: plan } = state.plan.steps.get(id) ?? {};
  if (!plan) throw new Error(`node ${id} has no loop`);
  const loop = newLoop(state, scope, id, plan);
  const total = (state.itemTotals.get(id) ?? 0) + loop.total;
  if (total > MAX_ITEMS) {
    const message = `forEach: ${total} items: a node is executed for at most ${MAX_ITEMS} items in a run. Use batch, or filter the items`;
    throw new StepError('TooManyItems', message);
  }
  state.itemTotals.set(id, total);
  attachLoop(state, loop);
  const before = state.unfinishedLoops.get(loop.key);
  if (before) {
    state.unfinishedLoops.delete(loop.key);
    restoreLoop(state, loop, before, now);
    return;
  }
  restoreLost(state, loop, undefined);
  const progress = { tried: 1, next: 1, firstAt: now };
  scope.progress.set(id, progress);
  addCheckpoint(state, scope, { ...startOf(progress, id), phase: 'Running', ...countsOf(loop) });
}

function restoreLoop(state: ExecutionState, loop: Loop, node: NodeState, now: number): void {
  const { scope, id } = loop;
  // A loop that a resumed run continues starts now.
  scope.progress.set(id, { tried: 1, next: 1, firstAt: now, ...scope.progress.get(id) });
  const { states, nodes } = state.storedItems.get(loop.key) ?? { states: new Map(), nodes: new Map() };
  for (const [index, item] of states) restoreItem(state, loop, index, item);
  for (const [index, executions] of nodes) {
    if (hasItemEnded(loop, index)) {
      dropExecutions(state, executions);
      continue;
    }
    const iteration = loop.active.get(index) ?? startAgain(loop, index);
    restoreExecution(state, iteration, executions, now);
  }
  restoreLost(state, loop, node);
  if (node.mark && loop.items) storeRestored(state, loop, node);
  if (node.nextAttemptAt !== undefined && loop.active.size === 0)
    loop.startsAt = performance.now() + delayUntil(state, node.nextAttemptAt);
}

/** Stores the loop without the mark of its record: from now on the run store knows its items again. */
function storeRestored(state: ExecutionState, loop: Loop, { attempts, startedAt }: NodeState): void {
  const { scope, id } = loop;
  const times = startedAt === undefined ? {} : { startedAt };
  addCheckpoint(state, scope, { id, phase: 'Running', attempts, ...times, ...countsOf(loop) });
}

function dropExecutions(state: ExecutionState, executions: ReadonlyMap<string, NodeState[]>): void {
  for (const [path, nodes] of executions) state.dropped.push(...nodes.map(({ id }) => `${path}/${id}`));
}

function startAgain(loop: Loop, index: number): Iteration {
  const iteration = newIteration(loop, index);
  loop.active.set(index, iteration);
  return iteration;
}

function restoreItem(state: ExecutionState, loop: Loop, index: number, node: NodeState): void {
  const { phase, reason = 'Internal', message = '', output } = node;
  const iteration = newIteration(loop, index);
  loop.storedKeys.add(itemKey(iteration));
  if (phase === 'Succeeded') return restoreResult(state, loop, index, node);
  if (isEnded(phase)) {
    const end = { phase, reason: reason as FailureReason, message } as FailedEnd;
    return noteItemEnd(state, loop, index, { end });
  }
  loop.active.set(index, iteration);
  iteration.attempt = node.attempts;
  iteration.repeat = node.repeat ?? 0;
  restoreCollected(iteration, node.collected);
  if (output) iteration.previous = output.data_content;
  if (phase === 'Running' && node.nextAttemptAt !== undefined)
    iteration.leftMs = delayUntil(state, node.nextAttemptAt);
  if (phase !== 'Waiting') return;
  if (node.reason !== undefined) iteration.lastEnd = { phase: 'Failed', reason: reason, message };
  const delayMs = delayUntil(state, node.nextAttemptAt);
  addTimer(state, itemKey(iteration), { delayMs, isStored: true }, () => touch(loop.scope));
}

function restoreResult(state: ExecutionState, loop: Loop, index: number, { output }: NodeState): void {
  if (!loop.items) return;
  noteItemEnd(state, loop, index, { value: output?.data_content ?? null });
  // Results beyond the limit are not stored.
  if (loop.plan.collects && !output) loop.isTooLarge = true;
}

/** Results beyond the limit are not stored, so that some are missing. */
function restoreCollected(iteration: Iteration, collected: readonly unknown[] = []): void {
  for (const value of collected) collectExecution(iteration, value);
  if (collected.length < iteration.repeat) iteration.collectedBytes = Infinity;
}

function restoreExecution(
  state: ExecutionState,
  iteration: Iteration,
  executions: ReadonlyMap<string, NodeState[]>,
  now: number,
): void {
  const path = `${itemKey(iteration)}.${iteration.repeat}.${iteration.attempt}`;
  const nodes = executions.get(path);
  // An execution before the current one: its nodes have ended.
  dropExecutions(state, new Map([...executions].filter(([other]) => other !== path)));
  if (!nodes) return;
  const scope = openScope(state, iteration);
  for (const node of nodes) restoreNode(state, scope, node, now);
}
