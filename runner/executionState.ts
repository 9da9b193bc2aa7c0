/**
 * The in-memory state of a run in flight: the state of its nodes, and the changes to store next. Synchronous,
 * without input or output. Changes take effect for others when the run store has stored them.
 */
import { parseExact } from '../api/exact/exactNumber.ts';
import type { NodeOutput, Scope } from '../api/expression/scope.ts';
import type { GraphEdge } from '../api/graph.ts';
import type { NodePhase } from '../api/phase.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import type { StepFields } from '../nodes/step.ts';
import type { Advance, Claim, NodeStart, NodeState, Reply, RunEnd } from '../runs/types.ts';
import type { FailedEnd } from './failure.ts';
import type { VariableValues } from '../runs/variables.ts';
import type { Plan } from './plan.ts';

/**
 * A started node: the number of started attempts, the number of the next attempt, how the last one failed,
 * and when a waiting node is retried, on the monotonic clock of this process.
 */
type Progress = {
  tried: number;
  next: number;
  firstAt?: number;
  fields?: StepFields;
  lastEnd?: FailedEnd;
  dueAt?: number;
};

export type ExecutionState = {
  readonly claim: Claim;
  readonly plan: Plan;
  readonly namespace: string;
  readonly variables?: VariableValues;
  /** The phases of started and ended nodes. A node without one is pending. */
  readonly phases: Map<string, NodePhase>;
  readonly outputs: Map<string, NodeOutput>;
  readonly progress: Map<string, Progress>;
  /** The results of evaluated conditions. */
  readonly conditionResults: Map<GraphEdge, boolean>;
  /** The changes to store next. */
  checkpoints: NodeState[];
  starts: NodeStart[];
  waits: NonNullable<Advance['waits']>;
  /** The attempts without effects to start: they need no mark. */
  computations: NodeStart[];
  /** Until when results without effects may wait for computations, on the monotonic clock of this process. */
  waitUntil: number;
  reply?: Reply;
  /** Set once: no node starts any more, and the run ends like this when no node runs. */
  halt?: RunEnd;
  /** The runner shuts down: no effect starts any more. */
  stopping: boolean;
};

/** How long results without effects wait for computations, so that one write stores both. */
export const LONGEST_WAIT_MS = 20;

const ENDED: readonly string[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Unknown'];

/** Whether the phase of a node is terminal. */
export function isEnded(phase: NodePhase | undefined): boolean {
  return phase !== undefined && ENDED.includes(phase);
}

/** The state of a run that was just claimed, for the first time or again. */
export function openState(
  claim: Claim,
  plan: Plan,
  { namespace, variables }: { namespace: string; variables?: VariableValues },
  now: number,
): ExecutionState {
  const state: ExecutionState = {
    claim,
    plan,
    namespace,
    ...(variables && { variables }),
    phases: new Map(),
    outputs: new Map(),
    progress: new Map(),
    conditionResults: new Map(),
    checkpoints: [],
    starts: [],
    waits: [],
    computations: [],
    waitUntil: 0,
    stopping: false,
  };
  for (const node of claim.state.nodes) restoreNode(state, node, now);
  restoreTrigger(state);
  return state;
}

function restoreTrigger(state: ExecutionState): void {
  const { plan, claim } = state;
  const { id, testData } = plan.trigger;
  const isTest = claim.state.input === '';
  const output = isTest ? testData : (parseExact(claim.state.input) as NodeOutput);
  state.outputs.set(id, output);
  if (state.phases.has(id)) return;
  const at = claim.state.acceptedAt;
  state.phases.set(id, 'Succeeded');
  state.checkpoints.push({
    id,
    phase: 'Succeeded',
    attempts: 1,
    startedAt: at,
    endedAt: at,
    ...(isTest ? { output: testData } : { outputIsInput: true }),
  });
}

/**
 * Restores a node from the run store. A start mark without an end means that the effect may have happened: an
 * `AtMostOnce` node is then `Unknown`, another node repeats the same attempt. A wait continues.
 */
function restoreNode(state: ExecutionState, node: NodeState, now: number): void {
  const { id, phase, attempts, startedAt, mark } = node;
  if (isEnded(phase)) {
    state.phases.set(id, phase);
    if (node.output) state.outputs.set(id, node.output);
    else if (phase !== 'Skipped') state.outputs.set(id, failedOutput(node.reason, node.message));
    return;
  }
  const firstAt = startedAt === undefined ? {} : { firstAt: startedAt };
  const numbers = mark
    ? { tried: mark.attempt, next: mark.attempt }
    : { tried: attempts, next: attempts + 1 };
  state.progress.set(id, { ...numbers, ...firstAt });
  if (phase === 'Waiting') restoreWait(state, node);
  if (!mark?.atMostOnce) return;
  const message = 'the runner died during the step, and the effect of the step must not be repeated';
  endNode(state, id, { phase: 'Unknown', reason: 'EffectUnknown', message }, now);
}

function restoreWait(
  state: ExecutionState,
  { id, reason = 'Internal', message = '', nextAttemptAt }: NodeState,
): void {
  const { claimedAt } = state.claim;
  const dueAt = performance.now() + Math.max(0, (nextAttemptAt ?? claimedAt) - claimedAt);
  const lastEnd: FailedEnd = { phase: 'Failed', reason, message };
  state.progress.set(id, { ...progressOf(state, id), lastEnd, dueAt });
  state.phases.set(id, 'Waiting');
}

/** References to a failed node can read only its error. */
function failedOutput(reason = 'Internal', message = ''): NodeOutput {
  return { error: { reason, message } } as unknown as NodeOutput;
}

/** The scope of references in a node, or in the condition of an edge, with the node before. */
export function scopeOf(state: ExecutionState, previous: string | undefined): Scope {
  const { run, workflow, acceptedAt, test } = state.claim.state;
  return {
    node: (id) => state.outputs.get(id),
    previous,
    vars: state.variables,
    run: { id: run, workflow, project: state.namespace, accepted: new Date(acceptedAt).toISOString(), test },
  };
}

/** The progress of a started node. Throws for another node. */
export function progressOf(state: ExecutionState, id: string): Progress {
  const progress = state.progress.get(id);
  if (!progress) throw new Error(`node ${id} has not begun`);
  return progress;
}

/** Adds the start mark of the node's next attempt. The attempt starts when the mark is stored. */
export function mark(state: ExecutionState, id: string, now: number): void {
  const progress = progressOf(state, id);
  const { next, firstAt } = progress;
  const atMostOnce = state.plan.steps.get(id)?.effect === 'AtMostOnce';
  state.phases.set(id, 'Running');
  state.starts.push({ id, attempt: next, atMostOnce, at: now, ...(firstAt !== undefined && { firstAt }) });
  state.progress.set(id, { ...progress, tried: next, firstAt: firstAt ?? now });
}

/** Starts an attempt that has no effect: there is nothing to store before it. */
export function compute(state: ExecutionState, id: string, now: number): void {
  state.phases.set(id, 'Running');
  state.computations.push({ id, attempt: 1, atMostOnce: false, at: now });
  state.waitUntil = performance.now() + LONGEST_WAIT_MS;
  state.progress.set(id, { ...progressOf(state, id), tried: 1, firstAt: now });
}

/** Skips the node. */
export function skip(state: ExecutionState, id: string, now: number): void {
  state.phases.set(id, 'Skipped');
  state.checkpoints.push({ id, phase: 'Skipped', attempts: 0, endedAt: now, ...reasonOfSkip(state, id) });
}

/** The reason of nodes beyond `until`. A node without a taken edge needs no reason. */
function reasonOfSkip(
  { plan: { until } }: ExecutionState,
  id: string,
): Pick<NodeState, 'reason' | 'message'> {
  if (until === undefined || until.asked.has(id)) return {};
  return { reason: 'NotAsked', message: `skipped: this test run stops at node ${until.node}` };
}

/** Ends the node with its output. */
export function succeed(state: ExecutionState, id: string, result: StepResult, now: number): void {
  const { output, usage, reply, log } = result;
  state.phases.set(id, 'Succeeded');
  state.outputs.set(id, output);
  state.checkpoints.push({
    ...times(state, id, now),
    phase: 'Succeeded',
    output,
    ...(usage && { usage }),
    ...(log && { log }),
  });
  if (reply && !state.reply) state.reply = reply;
}

/** Ends the node without an output. */
export function endNode(
  state: ExecutionState,
  id: string,
  { phase, reason, message, log }: FailedEnd,
  now: number,
): void {
  state.phases.set(id, phase);
  state.outputs.set(id, failedOutput(reason, message));
  state.checkpoints.push({ ...times(state, id, now), phase, reason, message, ...(log && { log }) });
}

/** Ends an attempt that is retried after the delay. */
export function awaitRetry(state: ExecutionState, id: string, end: FailedEnd, delayMs: number): void {
  const progress = progressOf(state, id);
  state.phases.set(id, 'Waiting');
  state.progress.set(id, {
    ...progress,
    next: progress.tried + 1,
    lastEnd: end,
    dueAt: performance.now() + delayMs,
  });
  state.waits.push({ id, delayMs });
  const { reason, message } = end;
  state.checkpoints.push({ ...startOf(progress, id), phase: 'Waiting', reason, message });
}

/** Ends the wait of a node: the next scheduling pass starts its next attempt. */
export function endWait(state: ExecutionState, id: string): void {
  if (state.phases.get(id) === 'Waiting') state.phases.set(id, 'Pending');
}

/** The waiting nodes, and in how many milliseconds each is retried. */
export function waitsOf(state: ExecutionState): { id: string; leftMs: number }[] {
  return [...state.phases]
    .filter(([, phase]) => phase === 'Waiting')
    .map(([id]) => ({ id, leftMs: (progressOf(state, id).dueAt ?? 0) - performance.now() }));
}

/** Returns a node whose attempt was stopped before it had an effect: the next runner repeats the attempt. */
export function release(state: ExecutionState, id: string): void {
  const progress = progressOf(state, id);
  if (state.plan.steps.get(id)?.effect === 'None') {
    state.phases.delete(id);
    state.progress.delete(id);
    return;
  }
  state.phases.set(id, 'Pending');
  state.checkpoints.push({ ...startOf(progress, id), phase: 'Pending', attempts: progress.tried - 1 });
}

/** The changes to store next, removed from the state. */
export function takeChanges(state: ExecutionState): Advance {
  const { checkpoints, starts, waits, reply } = state;
  state.checkpoints = [];
  state.starts = [];
  state.waits = [];
  delete state.reply;
  return {
    ...(checkpoints.length > 0 && { checkpoints }),
    ...(starts.length > 0 && { starts }),
    ...(waits.length > 0 && { waits }),
    ...(reply && { reply }),
  };
}

/**
 * Returns the nodes whose keys another run has seen to their attempt, and their IDs: the attempt is executed
 * again. Nothing has been decided from their outputs.
 */
export function repeatSeen(state: ExecutionState, refused: Advance): string[] {
  const repeated = (refused.remember ?? []).map(({ node }) => node);
  for (const id of repeated) {
    state.phases.set(id, 'Running');
    state.outputs.delete(id);
  }
  const others = (refused.checkpoints ?? []).filter(({ id }) => !repeated.includes(id));
  state.checkpoints.push(...others);
  state.waits.push(...(refused.waits ?? []));
  return repeated;
}

/**
 * Fails the run because the run store refused a step as too large: the nodes with outputs fail. Without
 * outputs, the run store accepts the step.
 */
export function refuseOutputs(state: ExecutionState, refused: Advance, message: string): void {
  for (const { output, usage: _, log: _log, ...node } of refused.checkpoints ?? []) {
    const fails = output !== undefined && node.id !== state.plan.trigger.id;
    if (fails) state.phases.set(node.id, 'Failed');
    const failure = { phase: 'Failed', reason: 'OutputTooLarge', message } as const;
    state.checkpoints.push({ ...node, ...(fails && failure) });
  }
  // Their start marks were not stored, so they have not started.
  for (const { id, attempt } of refused.starts ?? []) {
    state.phases.delete(id);
    state.progress.set(id, { ...progressOf(state, id), tried: attempt - 1 });
  }
  state.halt ??= { phase: 'Failed', reason: 'OutputTooLarge', message };
}

function startOf({ tried, firstAt }: Progress, id: string): Pick<NodeState, 'id' | 'attempts' | 'startedAt'> {
  return { id, attempts: tried, ...(firstAt !== undefined && { startedAt: firstAt }) };
}

type Times = Pick<NodeState, 'id' | 'attempts' | 'startedAt' | 'endedAt'>;

/** A node without progress has no effect: it had one attempt, now. */
function times(state: ExecutionState, id: string, now: number): Times {
  const { tried = 1, firstAt = now } = state.progress.get(id) ?? {};
  return { id, attempts: tried, startedAt: firstAt, endedAt: now };
}
