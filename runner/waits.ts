/** Waits of nodes in a run: for a time, the next attempt, a callback or a child run. */
import { withoutCallbackURLs } from '../api/callback.ts';
import type { NodeState } from '../runs/types/node.ts';
import { addCheckpoint, agentCounts, startOf } from './changes.ts';
import {
  type ExecutionState,
  locate,
  locatedKey,
  progressOf,
  type ScopeState,
  touch,
} from './executionState.ts';
import type { FailedEnd } from './failure.ts';

/** Ends an attempt that is retried after the delay. */
export function awaitRetry(state: ExecutionState, key: string, failed: FailedEnd, delayMs: number): void {
  const end = withoutCallbackURLs(failed);
  const { scope, id } = locate(state, key);
  const progress = progressOf(scope, id);
  scope.progress.set(id, { ...progress, next: progress.tried + 1, lastEnd: end });
  delete scope.progress.get(id)?.crashes;
  awaitNode(state, scope, id, delayMs);
  const { reason, message } = end;
  addCheckpoint(state, scope, {
    ...startOf(progress, id),
    ...agentCounts(progress),
    phase: 'Waiting',
    reason,
    message,
  });
}

/** How often a run that waits for a child reads it, where no signal comes. */
export const CHILD_CHECK_MS = 3_600_000;

/** Begins the wait for the child run that the attempt has started. `isKnown`: it may have ended before. */
export function awaitChild(state: ExecutionState, key: string, child: string, isKnown: boolean): void {
  const { scope, id } = locate(state, key);
  const progress = { ...progressOf(scope, id), run: child };
  scope.progress.set(id, progress);
  scope.phases.set(id, 'Waiting');
  watchChild(state, key, child, CHILD_CHECK_MS);
  state.waits.push({ id: key, delayMs: CHILD_CHECK_MS });
  if (isKnown) state.doubtfulChildren.push(key);
  touch(scope);
  addCheckpoint(state, scope, { ...startOf(progress, id), phase: 'Waiting' });
}

/** Reads the child of the node after the delay, and later again. */
export function watchChild(state: ExecutionState, key: string, child: string, delayMs: number): void {
  trackChild(state, key, child);
  watchChildren(state, key, delayMs);
}

/** Notes that the node waits for the child. */
export function trackChild(state: ExecutionState, key: string, child: string): void {
  const known = state.children.get(key) ?? [];
  if (!known.includes(child)) state.children.set(key, [...known, child]);
}

/** Notes that the child has ended. */
export function untrackChild({ children }: ExecutionState, key: string, child: string): void {
  const left = (children.get(key) ?? []).filter((each) => each !== child);
  if (left.length > 0) children.set(key, left);
  else children.delete(key);
}

/** Reads the children of the node after the delay. The run store knows the time of nodes that wait. */
export function watchChildren(state: ExecutionState, key: string, delayMs: number): void {
  const { scope, id } = locate(state, key);
  const isStored = scope.phases.get(id) === 'Waiting';
  addTimer(state, key, { delayMs, isStored }, () => state.doubtfulChildren.push(key));
}

/** Ends the attempt of an agent that only waits for these child runs. It continues when one has ended. */
export function awaitChildren(state: ExecutionState, key: string, children: readonly string[]): void {
  const { scope, id } = locate(state, key);
  const [run] = children;
  const progress = {
    ...progressOf(scope, id),
    awaitsChildren: true as const,
    ...(run !== undefined && { run }),
  };
  scope.progress.set(id, progress);
  scope.phases.set(id, 'Waiting');
  touch(scope);
  if (children.some((child) => state.signals.values.has(child))) return continueAgent(state, key);
  watchChildren(state, key, CHILD_CHECK_MS);
  state.waits.push({ id: key, delayMs: CHILD_CHECK_MS });
  addCheckpoint(state, scope, { ...startOf(progress, id), ...agentCounts(progress), phase: 'Waiting' });
}

/** Executes an agent again that has waited for child runs, as the same attempt. */
export function continueAgent(state: ExecutionState, key: string): void {
  const { scope, id } = locate(state, key);
  const { awaitsChildren: _, run: _run, ...progress } = progressOf(scope, id);
  state.timers.delete(key);
  scope.phases.set(id, 'Pending');
  scope.progress.set(id, { ...progress, next: progress.tried });
  touch(scope);
}

type WaitingFor = NonNullable<NodeState['waitingFor']>;

/** Begins the wait of a wait node. */
export function beginWait(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  { delayMs, now, waitingFor }: { delayMs: number; now: number; waitingFor: WaitingFor },
): void {
  const progress = { tried: 1, next: 1, firstAt: now };
  scope.progress.set(id, progress);
  awaitNode(state, scope, id, delayMs);
  addCheckpoint(state, scope, { ...startOf(progress, id), phase: 'Waiting', waitingFor });
}

function awaitNode(state: ExecutionState, scope: ScopeState, id: string, delayMs: number): void {
  const key = locatedKey(state, scope, id);
  scope.phases.set(id, 'Waiting');
  state.waits.push({ id: key, delayMs });
  addWaitTimer(state, key, delayMs);
  touch(scope);
}

/**
 * Adds a timer that `fireTimers` fires after the delay. `isStored`: the run store knows the time too, with
 * the key `storedAs` where that is another one.
 */
export function addTimer(
  state: ExecutionState,
  key: string,
  { delayMs, ...stored }: { delayMs: number; isStored: boolean; storedAs?: string },
  fire: () => void,
): void {
  state.timers.set(key, { dueAt: performance.now() + delayMs, fire, ...stored });
}

/** Adds the timer of a wait that the run store knows. */
export function addWaitTimer(state: ExecutionState, key: string, delayMs: number): void {
  addTimer(state, key, { delayMs, isStored: true }, () => {
    if (state.signals.awaiting.has(key)) state.signals.due.push(key);
    else endWait(state, key);
  });
}

/** Ends the wait of a node: the next scheduling pass starts its next attempt, or ends the wait node. */
export function endWait(state: ExecutionState, key: string): void {
  const { scope, id } = locate(state, key);
  state.timers.delete(key);
  if (scope.phases.get(id) !== 'Waiting') return;
  scope.phases.set(id, 'Pending');
  scope.progress.set(id, { ...progressOf(scope, id), hasWaited: true });
  touch(scope);
}

/** Fires the timers whose time has come. */
export function fireTimers({ timers }: ExecutionState): void {
  const now = performance.now();
  for (const [key, { dueAt, fire }] of timers) {
    if (dueAt > now) continue;
    timers.delete(key);
    fire();
  }
}

/**
 * In how many milliseconds each timer is due. `isStored`: only those that the run store knows, by its keys.
 */
export function waitsOf(
  { timers }: ExecutionState,
  { isStored = false } = {},
): { id: string; leftMs: number }[] {
  if (timers.size === 0) return [];
  return [...timers]
    .filter(([, timer]) => timer.isStored || !isStored)
    .map(([key, { dueAt, storedAs }]) => ({
      id: isStored ? (storedAs ?? key) : key,
      leftMs: dueAt - performance.now(),
    }));
}
