/**
 * One scheduling pass of a run: decides which nodes start, are skipped or end, executes nodes without
 * effects, and returns the changes as one step, which the run store stores completely or not at all. Every
 * runner decides the same from the same state.
 */
import { evaluateCondition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import { nextSteps, previousOf, type GraphEdge, type NextSteps } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import { executePure, isImmediate } from '../nodes/step.ts';
import type { Advance, RunEnd } from '../runs/types.ts';
import { asStepError, endOfFail, failedEnd, type FailedEnd } from './failure.ts';
import {
  compute,
  endNode,
  isEnded,
  mark,
  scopeOf,
  skip,
  succeed,
  type ExecutionState,
  takeChanges,
} from './executionState.ts';

/** The end of a node in a restored run that may have started after the record was written. */
const IN_DOUBT: FailedEnd = {
  phase: 'Unknown',
  reason: 'EffectUnknown',
  message: 'the run store lost its data: the step may have been executed before, and must not be repeated',
};

/**
 * The step to store now; undefined if there is none. Removes the changes from the state: the caller stores
 * the step, then starts the marked attempts. Changes that another runner could repeat may wait a moment, so
 * that they are stored with the results of computations.
 */
export function decidePass(state: ExecutionState, now: number): Advance | undefined {
  const end = decide(state, now);
  if (!end && performance.now() < state.waitUntil && isRepeatable(state)) return undefined;
  if (state.checkpoints.length === 0 && state.starts.length === 0 && !end) return undefined;
  return { ...takeChanges(state), ...(end && { end }) };
}

/** Whether something computes, and the changes are results of nodes without effects. */
function isRepeatable({ plan, phases, checkpoints, starts, waits, reply }: ExecutionState): boolean {
  if (starts.length > 0 || waits.length > 0 || reply) return false;
  const isWithoutEffect = (id: string) =>
    id === plan.trigger.id || plan.steps.get(id)?.effect === 'None' || phases.get(id) === 'Skipped';
  const computes = [...phases].some(([id, phase]) => phase === 'Running' && isWithoutEffect(id));
  return computes && checkpoints.every(({ id }) => isWithoutEffect(id));
}

function decide(state: ExecutionState, now: number): RunEnd | undefined {
  for (;;) {
    const next = state.halt ? undefined : nextOf(state);
    if (state.halt || !next) return state.halt && drain(state, state.halt, now);
    for (const id of next.skipped) skip(state, id, now);
    if (next.finished) return { phase: 'Succeeded' };
    const ready = next.ready.filter((id) => !state.stopping || endsAtOnce(state, id));
    const ended = ready.filter((id) => start(state, id, now));
    if (ended.length === 0) return undefined;
  }
}

/** The next steps of the graph. Sets `halt` if a node or a condition fails the run. */
function nextOf(state: ExecutionState): NextSteps | undefined {
  try {
    const next = nextSteps(state.plan.graph, state.phases, (edge) => holds(state, edge));
    if (next.failed === undefined) return next;
    state.halt = endOfFailure(state, next.failed);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    state.halt = {
      phase: 'Failed',
      reason: 'ConditionFailed',
      message: error.message,
    };
  }
  return undefined;
}

/**
 * Ends all pending nodes: a node that waits for a retry ends like its last attempt. Returns the end of the
 * run when no node runs.
 */
function drain(state: ExecutionState, halt: RunEnd, now: number): RunEnd | undefined {
  let isRunning = false;
  for (const { id } of state.plan.graph.nodes) {
    const phase = state.phases.get(id) ?? 'Pending';
    const isPending = phase === 'Pending';
    if (isPending && !hasAttempts(state, id)) skip(state, id, now);
    else if (isPending || phase === 'Waiting') endNode(state, id, endOfWait(state, id, halt), now);
    else if (!isEnded(phase)) isRunning = true;
  }
  return isRunning ? undefined : halt;
}

/**
 * Whether the node had an attempt, in this runner or another.
 */
function hasAttempts(state: ExecutionState, id: string): boolean {
  return (state.progress.get(id)?.tried ?? 0) > 0;
}

function endOfWait(state: ExecutionState, id: string, halt: RunEnd): FailedEnd {
  const { lastEnd } = state.progress.get(id) ?? {};
  if (halt.phase !== 'Cancelled' && lastEnd) return lastEnd;
  return { phase: 'Cancelled', reason: 'Cancelled', message: halt.message ?? '' };
}

function endOfFailure(state: ExecutionState, id: string): RunEnd {
  const { reason, message } = (state.outputs.get(id)?.error ?? {}) as { reason?: string; message?: string };
  const isUnknown = state.phases.get(id) === 'Unknown';
  // Summaries and lists show the message of the run without knowing that the node is sensitive.
  const isSensitive = state.plan.sensitive.has(id);
  const step = state.plan.steps.get(id)?.step;
  if (step?.kind === 'fail' && reason === step.fail.reason)
    return { phase: 'Failed', reason, message: isSensitive ? `node ${id}: ${reason}` : (message ?? '') };
  const text = isSensitive ? reason : isUnknown ? message : `${reason}: ${message}`;
  return {
    phase: 'Failed',
    reason: isUnknown ? 'EffectUnknown' : 'NodeFailed',
    message: `node ${id}: ${text}`,
  };
}

/**
 * Whether the condition of an edge holds. It is evaluated once, when all nodes before the target have ended.
 * Until then the edge counts as taken, so that a failure that it may handle does not fail the run too early.
 */
function holds(state: ExecutionState, edge: GraphEdge): boolean {
  const known = state.conditionResults.get(edge);
  if (known !== undefined) return known;
  const condition = state.plan.conditions.get(edge);
  const sources = state.plan.graph.into.get(edge.to) ?? [];
  if (!condition || !sources.every(({ from }) => isEnded(state.phases.get(from)))) return true;
  const result = evaluateEdge(edge, () => evaluateCondition(condition, scopeOf(state, edge.from)));
  state.conditionResults.set(edge, result);
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

function endsAtOnce(state: ExecutionState, id: string): boolean {
  const planned = state.plan.steps.get(id);
  return planned !== undefined && isImmediate(planned.step);
}

/** Starts a node. Returns true if it has ended already: it ends at once, or evaluating its fields failed. */
function start(state: ExecutionState, id: string, now: number): boolean {
  const planned = state.plan.steps.get(id);
  if (!planned) throw new Error(`the plan has no step ${id}`);
  try {
    const fields = planned.fields(scopeOf(state, previousOf(state.plan.graph, id)));
    if (planned.step.kind === 'fail') {
      endNode(state, id, endOfFail(planned.step.fail, fields['message']), now);
      return true;
    }
    if (isImmediate(planned.step)) {
      succeed(state, id, executePure(planned.step, fields), now);
      return true;
    }
    if (planned.effect === 'AtMostOnce' && state.claim.state.doubt) {
      endNode(state, id, IN_DOUBT, now);
      return true;
    }
    state.progress.set(id, { ...(state.progress.get(id) ?? { tried: 0, next: 1 }), fields });
    if (planned.effect === 'None') compute(state, id, now);
    else mark(state, id, now);
    return false;
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof StepError)) throw error;
    endNode(state, id, failedEnd(asStepError(error)), now);
    return true;
  }
}
