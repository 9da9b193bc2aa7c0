/**
 * One turn of a run: decides everything that is due, executes what has no effect, and gives one step forward
 * for the run store, which takes it as a whole or not at all. Every runner decides the same from the same
 * state.
 */
import { evaluateCondition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import { nextSteps, type GraphEdge, type NextSteps } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import { executePure } from '../nodes/step.ts';
import type { Advance, RunEnd } from '../runs/types.ts';
import { asStepError, failedEnd, type FailedEnd } from './failure.ts';
import { endNode, isEnded, mark, scopeOf, skip, succeed, type Memory } from './memory.ts';

/** In a run that was put back from its record, of a node that may have begun after that record. */
const IN_DOUBT: FailedEnd = {
  phase: 'Unknown',
  reason: 'EffectUnknown',
  message:
    'the run store lost its data, and the step, which must not be repeated, may have been executed before',
};

/**
 * What is to be stored now, or undefined. It is forgotten here: the caller stores it, and then starts what it
 * marks.
 */
export function takeTurn(memory: Memory, now: number): Advance | undefined {
  const end = decide(memory, now);
  const { checkpoints, starts, waits, reply } = memory;
  if (checkpoints.length === 0 && starts.length === 0 && !end) return undefined;
  memory.checkpoints = [];
  memory.starts = [];
  memory.waits = [];
  delete memory.reply;
  return {
    ...(checkpoints.length > 0 && { checkpoints }),
    ...(starts.length > 0 && { starts }),
    ...(waits.length > 0 && { waits }),
    ...(reply && { reply }),
    ...(end && { end }),
  };
}

function decide(memory: Memory, now: number): RunEnd | undefined {
  for (;;) {
    const next = memory.halt ? undefined : judge(memory);
    if (memory.halt || !next) return memory.halt && drain(memory, memory.halt, now);
    for (const id of next.skipped) skip(memory, id, now);
    if (next.finished) return { phase: 'Succeeded' };
    const ready = next.ready.filter((id) => !memory.leaving || isPure(memory, id));
    const ended = ready.filter((id) => begin(memory, id, now));
    if (ended.length === 0) return undefined;
  }
}

/** What the graph says. Sets `halt` when a node or a condition has failed the run. */
function judge(memory: Memory): NextSteps | undefined {
  try {
    const next = nextSteps(memory.plan.graph, memory.phases, (edge) => holds(memory, edge));
    if (next.failed === undefined) return next;
    memory.halt = endOfFailure(memory, next.failed);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    memory.halt = {
      phase: 'Failed',
      reason: 'ConditionFailed',
      message: error.message,
    };
  }
  return undefined;
}

/**
 * Nothing more starts: what waits to be tried again ends as its last attempt did. The end, once nothing runs.
 */
function drain(memory: Memory, halt: RunEnd, now: number): RunEnd | undefined {
  let isRunning = false;
  for (const { id } of memory.plan.graph.nodes) {
    const phase = memory.phases.get(id) ?? 'Pending';
    const isPending = phase === 'Pending';
    if (isPending && !hasBeenTried(memory, id)) skip(memory, id, now);
    else if (isPending || phase === 'Waiting') endNode(memory, id, endOfWait(memory, id, halt), now);
    else if (!isEnded(phase)) isRunning = true;
  }
  return isRunning ? undefined : halt;
}

/**
 * Of a node that another runner began, or that was about to be tried again, the attempts are not forgotten.
 */
function hasBeenTried(memory: Memory, id: string): boolean {
  return (memory.progress.get(id)?.tried ?? 0) > 0;
}

function endOfWait(memory: Memory, id: string, halt: RunEnd): FailedEnd {
  const { lastEnd } = memory.progress.get(id) ?? {};
  if (halt.phase !== 'Cancelled' && lastEnd) return lastEnd;
  return { phase: 'Cancelled', reason: 'Cancelled', message: halt.message ?? '' };
}

function endOfFailure(memory: Memory, id: string): RunEnd {
  const { reason, message } = (memory.outputs.get(id)?.error ?? {}) as { reason?: string; message?: string };
  const isUnknown = memory.phases.get(id) === 'Unknown';
  // The message of the run is in summaries and lists, where nobody knows any more which node it is about.
  const isSensitive = memory.plan.sensitive.has(id);
  const text = isSensitive ? reason : isUnknown ? message : `${reason}: ${message}`;
  return {
    phase: 'Failed',
    reason: isUnknown ? 'EffectUnknown' : 'NodeFailed',
    message: `node ${id}: ${text}`,
  };
}

/**
 * Whether the condition of an edge holds. It is judged once, when everything before the edge's end has ended;
 * until then the edge counts as taken, so that a failure that it may catch does not fail the run too soon.
 */
function holds(memory: Memory, edge: GraphEdge): boolean {
  const known = memory.held.get(edge);
  if (known !== undefined) return known;
  const condition = memory.plan.conditions.get(edge);
  const sources = memory.plan.graph.into.get(edge.to) ?? [];
  if (!condition || !sources.every(({ from }) => isEnded(memory.phases.get(from)))) return true;
  const result = judgeEdge(edge, () => evaluateCondition(condition, scopeOf(memory)));
  memory.held.set(edge, result);
  return result;
}

/** Errors of a condition name its edge, as they do when a workflow is checked. */
function judgeEdge({ from, to }: GraphEdge, judgement: () => boolean): boolean {
  try {
    return judgement();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { code, detail, position } = error;
    const path = `edge ${from} → ${to}: when`;
    throw new ExpressionError(code, detail, { path, ...(position && { position }) });
  }
}

function isPure(memory: Memory, id: string): boolean {
  return memory.plan.steps.get(id)?.effect === 'None';
}

/** Begins a node. True when it has ended already: it has no effect, or its references lead nowhere. */
function begin(memory: Memory, id: string, now: number): boolean {
  const planned = memory.plan.steps.get(id);
  if (!planned) throw new Error(`the plan has no step ${id}`);
  try {
    const fields = planned.fields(scopeOf(memory));
    if (planned.effect === 'None') {
      succeed(memory, id, executePure(planned.step, fields), now);
      return true;
    }
    if (planned.effect === 'AtMostOnce' && memory.claim.state.doubt) {
      endNode(memory, id, IN_DOUBT, now);
      return true;
    }
    memory.progress.set(id, { ...(memory.progress.get(id) ?? { tried: 0, next: 1 }), fields });
    mark(memory, id, now);
    return false;
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof StepError)) throw error;
    endNode(memory, id, failedEnd(asStepError(error)), now);
    return true;
  }
}
