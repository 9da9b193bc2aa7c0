/**
 * One scheduling pass of a run: decides which nodes start, are skipped or end, executes nodes without
 * effects, and returns the changes as one step, which the run store stores completely or not at all. Every
 * runner decides the same from the same state.
 */
import { evaluateCondition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import { executedBefore, type GraphEdge, nextSteps, type NextSteps, previousOf } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import { hasCallInDoubt } from '../nodes/agent/rounds.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import { executePure, isImmediate, type StepFields } from '../nodes/step.ts';
import type { Advance } from '../runs/types/advance.ts';
import type { RunEnd } from '../runs/types/result.ts';
import { takeChanges } from './changes.ts';
import {
  type ExecutionState,
  isEnded,
  keyOf,
  locatedKey,
  type Pass,
  type ScopeEnd,
  type ScopeState,
  touch,
} from './executionState.ts';
import { requestMemory } from './awaitMemory.ts';
import { asStepError, endOfFail, failedEnd, type FailedEnd, type ScopeFailure } from './failure.ts';
import { advanceLoop } from './loop.ts';
import { openLoop } from './openLoop.ts';
import type { PlannedStep } from './plan.ts';
import { scopeOf } from './references.ts';
import { isInDoubt } from './restoreLost.ts';
import { DIED_DURING_EFFECT } from './restoreNode.ts';
import { endNode, markAttempt, passOver, skip, startComputation, succeed } from './transitions.ts';
import { mockedNode } from './testRun.ts';
import { startWait } from './waitNode.ts';

/** The end of a node in a restored run that may have started after the record was written. */
const IN_DOUBT: FailedEnd = {
  phase: 'Unknown',
  reason: 'EffectUnknown',
  message: 'the run store lost its data: the step may have been executed before, and must not be repeated',
};
/** A pass that takes longer starts no further items, so that other runs have their turn. */
const PASS_MS = 5;

/**
 * The step to store now; undefined if there is none. Removes the changes from the state: the caller stores
 * the step, then starts the marked attempts. Changes that another runner could repeat may wait a moment, so
 * that they are stored with the results of computations. `state.hasMore` says that the next pass has work.
 * `passMs`: how long items may start in this pass.
 */
export function decidePass(state: ExecutionState, now: number, passMs = PASS_MS): Advance | undefined {
  state.hasMore = false;
  const end = decide(state, now, passMs);
  if (!end && performance.now() < state.waitUntil && isRepeatable(state)) return undefined;
  const changes = takeChanges(state);
  if (end) changes.end = end;
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** Whether something computes, and the changes are results of nodes without effects. */
function isRepeatable(state: ExecutionState): boolean {
  const { plan, root, checkpoints, itemCheckpoints, dropped, starts, waits, reply, computing } = state;
  if (computing.size === 0 || starts.length > 0 || waits.length > 0 || reply) return false;
  if (itemCheckpoints.length > 0 || dropped.length > 0) return false;
  const isWithoutEffect = (id: string) =>
    id === plan.trigger.id || plan.steps.get(id)?.effect === 'None' || root.phases.get(id) === 'Skipped';
  return checkpoints.every(({ id }) => isWithoutEffect(id));
}

function decide(state: ExecutionState, now: number, passMs: number): RunEnd | undefined {
  const pass: Pass = {
    state,
    now,
    until: performance.now() + passMs,
    endedItems: 0,
    decide: (scope) => decideScope(pass, scope),
  };
  const end = decideScope(pass, state.root);
  state.attempts.returnUnused();
  if (state.halt) return end && state.halt;
  // Only a parent that waits gets the output.
  if (end?.kind === 'succeeded')
    return { phase: 'Succeeded', ...(state.claim.state.parent?.waits && { output: end.output }) };
  return end && (state.halt = endOfRun(end.end));
}

/** The end of the run after the failure of its scope. */
function endOfRun({ phase, reason, message, isFail }: ScopeFailure): RunEnd {
  if (reason === 'ConditionFailed') return { phase: 'Failed', reason, message };
  if (isFail) return { phase: 'Failed', reason, message };
  return { phase: 'Failed', reason: phase === 'Unknown' ? 'EffectUnknown' : 'NodeFailed', message };
}

/** Schedules the nodes of a scope until nothing changes. Returns the end of the scope, if it has ended. */
function decideScope(pass: Pass, scope: ScopeState): ScopeEnd | undefined {
  const { state, now } = pass;
  scope.hasChanged = false;
  for (;;) {
    const halt = haltOf(state, scope);
    if (halt) return endHalted(pass, scope, halt);
    let hasChanged = false;
    for (const loop of scope.loops.values()) if (advanceLoop(pass, loop, undefined)) hasChanged = true;
    const next = nextOf(state, scope);
    if (!next) continue;
    for (const id of next.skipped) skip(state, scope, id, now);
    for (const id of next.disabled ?? []) {
      passOver(state, scope, id, now);
      hasChanged = true;
    }
    if (next.finished) return { kind: 'succeeded', output: outputOf(scope) };
    const ready = next.ready.filter((id) => !state.stopping || endsAtOnce(state, id));
    for (const id of ready) if (start(pass, scope, id)) hasChanged = true;
    if (!hasChanged) return undefined;
  }
}

/** Ends what waits in a scope in which no node starts any more. Returns its end once no node runs. */
function endHalted(pass: Pass, scope: ScopeState, halt: FailedEnd): ScopeEnd | undefined {
  const { state } = pass;
  reopenLoops(pass, scope);
  for (const loop of scope.loops.values()) advanceLoop(pass, loop, stopped(halt.message));
  if (hasSucceeded(state, scope)) return { kind: 'succeeded', output: outputOf(scope) };
  return drain(pass, scope, halt) ? { kind: 'failed', end: endOfScope(state, scope, halt) } : undefined;
}

/**
 * Opens the loops of the scope that another runner began, although no node starts any more: their items in
 * progress end as what is stored of them says.
 */
function reopenLoops(pass: Pass, scope: ScopeState): void {
  const { state, now } = pass;
  if (state.unfinishedLoops.size === 0) return;
  for (const { id } of scope.graph.nodes) {
    if (!state.unfinishedLoops.has(keyOf(scope, id))) continue;
    const key = locatedKey(state, scope, id);
    try {
      openLoop(pass, scope, id);
    } catch (error) {
      if (!(error instanceof ExpressionError || error instanceof StepError)) throw error;
      // Its items depend on nodes that would be computed again, but no node starts any more.
      state.unfinishedLoops.delete(key);
      if (hasMarkOfOnce(state, key)) endNode(state, key, DIED_DURING_EFFECT, now);
    }
  }
}

/** Whether a node in the loop was stopped during an effect that must not be repeated. */
function hasMarkOfOnce({ storedItems }: ExecutionState, key: string): boolean {
  const inLoop = [...storedItems].filter(([loop]) => loop === key || loop.startsWith(`${key}.`));
  const nodes = inLoop.flatMap(([, items]) => [...items.nodes.values()].flatMap((all) => [...all.values()]));
  return nodes.flat().some(({ mark }) => mark?.atMostOnce);
}

/** How the scope ends because it or a scope around it has failed, or because the run is halted. */
function haltOf({ halt }: ExecutionState, scope: ScopeState): FailedEnd | undefined {
  if (scope.failure) return scope.failure;
  const message = halt ? (halt.message ?? '') : failureAround(scope)?.message;
  return message === undefined ? undefined : stopped(message);
}

/** The end of what has not failed itself: a run that resumes this one executes it again. */
const stopped = (message: string): FailedEnd => ({ phase: 'Cancelled', reason: 'Cancelled', message });

/** The failure of the innermost scope around this one that has failed: no node starts in it any more. */
function failureAround({ parent }: ScopeState): ScopeFailure | undefined {
  return parent && (parent.failure ?? failureAround(parent));
}

/**
 * The end of a scope in which no node runs. A body with a node that is Unknown is Unknown, also if another
 * node failed before: a run that resumes this one must not execute the body again without a decision.
 */
function endOfScope(state: ExecutionState, scope: ScopeState, halt: FailedEnd): ScopeFailure {
  const end = scope.failure ?? halt;
  if (scope === state.root || end.phase === 'Unknown') return end;
  const unknown = scope.graph.nodes.find(({ id }) => scope.phases.get(id) === 'Unknown');
  return unknown ? endOfFailure(state, scope, unknown.id) : end;
}

/**
 * Whether the body ended before it had to stop. Its item has then succeeded: a run that resumes this one must
 * not repeat its effects.
 */
function hasSucceeded(state: ExecutionState, scope: ScopeState): boolean {
  if (scope.failure || scope === state.root) return false;
  try {
    const { finished, failed } = nextSteps(scope.graph, scope.phases, (edge) => holds(state, scope, edge));
    return finished && failed === undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return false;
  }
}

/** The output of a body: that of its last node, in the order of the list, that succeeded. */
function outputOf({ graph, phases, outputs }: ScopeState) {
  const last = graph.nodes.findLast(({ id, trigger }) => !trigger && phases.get(id) === 'Succeeded');
  return (last && outputs.get(last.id)) ?? { text_content: '', data_content: null };
}

/** The next steps of the graph. Sets `failure` of the scope if a node or a condition fails it. */
function nextOf(state: ExecutionState, scope: ScopeState): NextSteps | undefined {
  try {
    const next = nextSteps(scope.graph, scope.phases, (edge) => holds(state, scope, edge));
    if (next.failed === undefined) return next;
    scope.failure = endOfFailure(state, scope, next.failed);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    scope.failure = { phase: 'Failed', reason: 'ConditionFailed', message: error.message };
  }
  return undefined;
}

/**
 * Ends all pending nodes: a node that waits for a retry ends like its last attempt. Returns whether no node
 * runs.
 */
function drain({ state, now }: Pass, scope: ScopeState, halt: FailedEnd): boolean {
  let isRunning = false;
  for (const { id, trigger } of scope.graph.nodes) {
    if (trigger) continue;
    const phase = scope.phases.get(id) ?? 'Pending';
    const isPending = phase === 'Pending';
    if (isPending && !hasBegun(state, scope, id)) skip(state, scope, id, now);
    else if (isPending || phase === 'Waiting')
      endNode(state, locatedKey(state, scope, id), endOfWait(state, scope, id, halt), now);
    else if (!isEnded(phase)) isRunning = true;
  }
  return !isRunning;
}

/** Whether the node had an attempt, in this runner or another: also one that a runner handed back. */
function hasBegun(state: ExecutionState, scope: ScopeState, id: string): boolean {
  if ((scope.progress.get(id)?.tried ?? 0) > 0) return true;
  return state.plan.steps.get(id)?.hasTools === true && state.calls.of(keyOf(scope, id)).size > 0;
}

function endOfWait(state: ExecutionState, scope: ScopeState, id: string, halt: FailedEnd): FailedEnd {
  const { lastEnd } = scope.progress.get(id) ?? {};
  if (state.plan.steps.get(id)?.hasTools && hasCallInDoubt(state.calls.of(keyOf(scope, id))))
    return DIED_DURING_EFFECT;
  if (lastEnd && state.halt?.phase !== 'Cancelled') return lastEnd;
  return stopped(halt.message);
}

function endOfFailure(state: ExecutionState, scope: ScopeState, id: string): ScopeFailure {
  const { outputs, phases, iteration } = scope;
  const { reason = 'Internal', message = '' } = (outputs.get(id)?.error ?? {}) as Partial<FailedEnd>;
  const isUnknown = phases.get(id) === 'Unknown';
  // Summaries and lists show the message of the run without knowing that the node is sensitive.
  const isSensitive = state.plan.sensitive.has(id);
  if (isOwnReason(state, id, reason)) {
    const text = isSensitive ? `node ${id}: ${reason}` : message;
    return { phase: 'Failed', reason, message: text, isFail: true };
  }
  const phase = isUnknown ? 'Unknown' : 'Failed';
  // The scope around the loop names its node and the reason.
  if (iteration?.loop.id === id) return { phase, reason, message: isSensitive ? reason : message };
  const text = isSensitive ? reason : isUnknown ? message : `${reason}: ${message}`;
  return { phase, reason, message: `node ${id}: ${text}` };
}

/** Whether the node is a `fail` node that gave the reason itself. */
function isOwnReason(state: ExecutionState, id: string, reason: string): boolean {
  const step = state.plan.steps.get(id)?.step;
  return step?.kind === 'fail' && reason === step.fail.reason;
}

/**
 * Whether the condition of an edge holds. It is evaluated once, when all nodes before the target have ended.
 * Until then the edge counts as taken, so that a failure that it may handle does not fail the run too early.
 */
function holds(state: ExecutionState, scope: ScopeState, edge: GraphEdge): boolean {
  const known = scope.conditionResults.get(edge);
  if (known !== undefined) return known;
  const condition = state.plan.conditions.get(edge);
  const sources = scope.graph.into.get(edge.to) ?? [];
  if (!condition || !sources.every(({ from }) => isEnded(scope.phases.get(from)))) return true;
  const result = evaluateEdge(edge, () =>
    evaluateCondition(condition, scopeOf(state, scope, executedBefore(scope.graph, edge.from))),
  );
  scope.conditionResults.set(edge, result);
  return result;
}

/** Errors of a condition name its edge, like those of the validation of a workflow. */
function evaluateEdge({ from, to }: GraphEdge, evaluate: () => boolean): boolean {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { code, detail, position } = error;
    const path = `edge ${from} → ${to}: when`;
    throw new ExpressionError(code, detail, { path, ...(position && { position }) });
  }
}

/** Whether the node ends at once when it starts: it may start while the runner shuts down. */
function endsAtOnce(state: ExecutionState, id: string): boolean {
  const { loop, step } = state.plan.steps.get(id) ?? {};
  return step !== undefined && loop === undefined && isImmediate(step);
}

/** The result of a step that ends at once: that of its mock, if it has one. @throws StepError */
function resultAtOnce({ claim }: ExecutionState, step: RevisionStep, fields: StepFields): StepResult {
  return mockedNode(claim.state, step, fields) ?? executePure(step, fields);
}

/** Starts a node. Returns true if it has ended already, or if it is a loop that the pass continues. */
function start(pass: Pass, scope: ScopeState, id: string): boolean {
  const { state, now } = pass;
  const planned = state.plan.steps.get(id);
  if (!planned) throw new Error(`the plan has no step ${id}`);
  const key = locatedKey(state, scope, id);
  let hasTaken = false;
  try {
    // The node of an item of a loop is executed itself.
    if (planned.loop && scope.iteration?.loop.id !== id) {
      openLoop(pass, scope, id);
      return true;
    }
    // Before the fields are evaluated: thousands of items may wait for an attempt.
    hasTaken = hasAttempt(planned.step) && state.attempts.take();
    if (hasAttempt(planned.step) && !hasTaken) {
      touch(scope);
      return false;
    }
    const fields = planned.fields(scopeOf(state, scope, previousOf(scope.graph, id)));
    if (planned.step.kind === 'fail') {
      endNode(state, key, endOfFail(planned.step.fail, fields['message']), now);
      return true;
    }
    if (planned.step.kind === 'wait') return startWait(pass, scope, id, { wait: planned.step.wait, fields });
    if (isImmediate(planned.step)) {
      succeed(state, key, resultAtOnce(state, planned.step, fields), now);
      return true;
    }
    return startAttempt(pass, scope, id, fields, planned);
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof StepError)) throw error;
    if (hasTaken) state.attempts.release();
    endNode(state, key, failedEnd(asStepError(error)), now);
    return true;
  }
}

/**
 * Starts an attempt of a node that is not executed in the pass itself. Returns whether the node has ended.
 */
function startAttempt(
  { state, now }: Pass,
  scope: ScopeState,
  id: string,
  fields: StepFields,
  { effect, hasEffectOnce, memory }: PlannedStep,
): boolean {
  if (hasEffectOnce && isInDoubt(state, scope, id)) {
    state.attempts.release();
    endNode(state, locatedKey(state, scope, id), IN_DOUBT, now);
    return true;
  }
  if (memory && requestMemory(state, scope, id, { memory, fields })) {
    state.attempts.release();
    return false;
  }
  scope.progress.set(id, { ...(scope.progress.get(id) ?? { tried: 0, next: 1 }), fields });
  if (effect === 'None') startComputation(state, scope, id, now);
  else markAttempt(state, scope, id, now);
  return false;
}

/** Whether an execution of the step is an attempt that takes time. */
function hasAttempt(step: RevisionStep): boolean {
  return !['fail', 'wait', 'group'].includes(step.kind) && !isImmediate(step);
}
