/** Restores a node in progress or an ended node from what the run store holds of it. */
import type { NodeState } from '../runs/types/node.ts';
import {
  type ExecutionState,
  isEnded,
  keyOf,
  locatedKey,
  type Progress,
  type ScopeState,
} from './executionState.ts';
import type { FailedEnd } from './failure.ts';
import { endNode, failedOutput } from './transitions.ts';
import { addWaitTimer, continueAgent, endWait, trackChild, watchChild, watchChildren } from './waits.ts';
import { hasCallInDoubt, openChildren } from '../nodes/agent/rounds.ts';

/** The end of a node whose runner died during an effect that must not be repeated. */
export const DIED_DURING_EFFECT: FailedEnd = {
  phase: 'Unknown',
  reason: 'EffectUnknown',
  message: 'the runner died during the step, and the effect of the step must not be repeated',
};

/** Crashes during one attempt of an item after which the item fails. */
const POISON_CRASHES = 3;

/**
 * Restores a node from the run store. A start mark without an end means that the effect may have happened: an
 * `AtMostOnce` node is then `Unknown`, another node repeats the same attempt. A wait continues.
 */
export function restoreNode(state: ExecutionState, scope: ScopeState, node: NodeState, now: number): void {
  const { id, phase, startedAt, mark } = node;
  const isInScope = scope !== state.root;
  if (isInScope) scope.storedKeys.add(keyOf(scope, id));
  if (isEnded(phase)) {
    restoreEnded(scope, node);
    return;
  }
  const firstAt = startedAt === undefined ? {} : { firstAt: startedAt };
  if (state.plan.steps.get(id)?.loop && scope.iteration?.loop.id !== id) {
    state.unfinishedLoops.set(keyOf(scope, id), node);
    scope.progress.set(id, { tried: 1, next: 1, ...firstAt });
    return;
  }
  const crashes = mark && isInScope ? { crashes: (mark.crashes ?? 0) + 1 } : {};
  scope.progress.set(id, { ...attemptsOf(node), ...firstAt, ...crashes });
  locatedKey(state, scope, id);
  if (phase === 'Waiting') restoreWaiting(state, scope, node);
  if (!mark) return;
  const isCallInDoubt = mark.continues === true && hasCallInDoubt(state.calls.of(keyOf(scope, id)));
  const end = endOfMark(mark, isCallInDoubt, crashes.crashes);
  if (end) endNode(state, keyOf(scope, id), end, now);
}

/** The attempts so far, and what they sent. */
function attemptsOf({ attempts, mark, sent }: NodeState): Pick<Progress, 'tried' | 'next' | 'sent'> {
  const tried = mark?.attempt ?? attempts;
  return { tried, next: mark ? tried : tried + 1, ...(sent && { sent }) };
}

function restoreEnded(scope: ScopeState, { id, phase, output, reason, message }: NodeState): void {
  scope.phases.set(id, phase);
  if (output) scope.outputs.set(id, output);
  else if (phase !== 'Skipped') scope.outputs.set(id, failedOutput(reason, message));
}

/** `isCallInDoubt`: the node is an agent, and a call of it that must not be repeated has no result. */
function endOfMark(
  { atMostOnce, continues }: NonNullable<NodeState['mark']>,
  isCallInDoubt: boolean,
  crashes = 0,
): FailedEnd | undefined {
  if (atMostOnce && !continues) return DIED_DURING_EFFECT;
  if (crashes < POISON_CRASHES) return undefined;
  if (isCallInDoubt) return DIED_DURING_EFFECT;
  const message = `${crashes} runners died while they executed the item`;
  return { phase: 'Failed', reason: 'Poison', message };
}

function restoreWait(
  state: ExecutionState,
  scope: ScopeState,
  { id, reason, message = '', nextAttemptAt }: NodeState,
): void {
  const progress = scope.progress.get(id) ?? { tried: 1, next: 1 };
  if (reason !== undefined) {
    const lastEnd: FailedEnd = { phase: 'Failed', reason: reason, message };
    scope.progress.set(id, { ...progress, lastEnd });
  }
  scope.phases.set(id, 'Waiting');
  const delayMs = delayUntil(state, nextAttemptAt);
  const key = keyOf(scope, id);
  const { step } = state.plan.steps.get(id) ?? {};
  if (step?.kind === 'wait' && step.wait.callback) state.signals.awaiting.add(key);
  addWaitTimer(state, key, delayMs);
  // A loop opens after the signals were read.
  if (state.signals.values.has(key)) endWait(state, key);
}

function restoreWaiting(state: ExecutionState, scope: ScopeState, node: NodeState): void {
  // Its memory is asked for again. With a reason, the node waits for its next attempt.
  if (node.waitingFor?.memory) restoreMemoryWait(state, scope, node);
  else if (state.plan.steps.get(node.id)?.step.kind === 'agent' && node.reason === undefined)
    restoreAgent(state, scope, node);
  else if (node.run !== undefined && node.reason === undefined) restoreChild(state, scope, node, node.run);
  else restoreWait(state, scope, node);
}

/** An agent waits for child runs of its stored calls. Where these are lost, it begins again. */
function restoreAgent(
  state: ExecutionState,
  scope: ScopeState,
  { id, attempts, nextAttemptAt }: NodeState,
): void {
  const key = keyOf(scope, id);
  const children = openChildren(state.calls.of(key));
  scope.phases.set(id, 'Waiting');
  scope.progress.set(id, {
    ...(scope.progress.get(id) ?? { tried: attempts, next: attempts }),
    awaitsChildren: true,
  });
  for (const child of children) trackChild(state, key, child);
  // A loop opens after the signals were read.
  const hasEnded = children.some((child) => state.signals.values.has(child));
  if (hasEnded || children.length === 0) continueAgent(state, key);
  else watchChildren(state, key, delayUntil(state, nextAttemptAt));
}

function restoreMemoryWait(state: ExecutionState, scope: ScopeState, { id, nextAttemptAt }: NodeState): void {
  const progress = scope.progress.get(id) ?? { tried: 0, next: 1 };
  scope.progress.set(id, { ...progress, memoryWaitMs: delayUntil(state, nextAttemptAt) });
}

/** The end of the child may be lost where the run store was. */
function restoreChild(state: ExecutionState, scope: ScopeState, node: NodeState, child: string): void {
  const { id, nextAttemptAt } = node;
  const key = keyOf(scope, id);
  scope.phases.set(id, 'Waiting');
  scope.progress.set(id, {
    tried: node.attempts,
    next: node.attempts + 1,
    ...scope.progress.get(id),
    run: child,
  });
  const isLost = state.claim.state.restored === true;
  watchChild(state, key, child, isLost ? 0 : delayUntil(state, nextAttemptAt));
}

/** Milliseconds from now until a time of the project's clock. */
export function delayUntil({ claim: { claimedAt } }: ExecutionState, at = claimedAt): number {
  return Math.max(0, at - claimedAt);
}
