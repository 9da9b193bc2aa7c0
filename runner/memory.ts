/**
 * A run while it is executed: what is known of its nodes, and what is to be stored next. Pure memory: nothing
 * here waits, and nothing is true for others before the run store has taken it.
 */
import type { NodeOutput, Scope } from '../api/expression/scope.ts';
import type { GraphEdge } from '../api/graph.ts';
import type { NodePhase } from '../api/phase.ts';
import type { StepResult } from '../nodes/node.ts';
import type { StepFields } from '../nodes/step.ts';
import type { Advance, Claim, NodeStart, NodeState, Reply, RunEnd } from '../runs/types.ts';
import type { FailureReason } from '../api/reasons.ts';
import type { FailedEnd } from './failure.ts';
import type { Plan } from './plan.ts';

/**
 * A node that has begun: the attempts that were begun, the number of the next one, how the last one failed,
 * and when a node that waits is tried again, on this process's monotonic clock.
 */
type Progress = {
  tried: number;
  next: number;
  firstAt?: number;
  fields?: StepFields;
  lastEnd?: FailedEnd;
  dueAt?: number;
};

export type Memory = {
  readonly claim: Claim;
  readonly plan: Plan;
  /** Phases of the nodes that have begun or ended; a node without one is pending. */
  readonly phases: Map<string, NodePhase>;
  readonly outputs: Map<string, NodeOutput>;
  readonly progress: Map<string, Progress>;
  /** Conditions that were judged. */
  readonly held: Map<GraphEdge, boolean>;
  /** What is to be stored next. */
  checkpoints: NodeState[];
  starts: NodeStart[];
  waits: NonNullable<Advance['waits']>;
  reply?: Reply;
  /** Set once: the run ends so as soon as nothing runs any more, and nothing starts. */
  halt?: RunEnd;
  /** The runner leaves: no effect begins here any more. */
  leaving: boolean;
};

const ENDED: readonly string[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Unknown'];

/** Whether a node of that phase will never run again. */
export function isEnded(phase: NodePhase | undefined): boolean {
  return phase !== undefined && ENDED.includes(phase);
}

/** The memory of a run that was just claimed, for the first time or after others held it. */
export function openMemory(claim: Claim, plan: Plan, now: number): Memory {
  const memory: Memory = {
    claim,
    plan,
    phases: new Map(),
    outputs: new Map(),
    progress: new Map(),
    held: new Map(),
    checkpoints: [],
    starts: [],
    waits: [],
    leaving: false,
  };
  for (const node of claim.state.nodes) recall(memory, node, now);
  recallTrigger(memory);
  return memory;
}

function recallTrigger(memory: Memory): void {
  const { plan, claim } = memory;
  const { id, testData } = plan.trigger;
  const isTest = claim.state.input === '';
  const output = isTest ? testData : (JSON.parse(claim.state.input) as NodeOutput);
  memory.outputs.set(id, output);
  if (memory.phases.has(id)) return;
  const at = claim.state.acceptedAt;
  memory.phases.set(id, 'Succeeded');
  memory.checkpoints.push({
    id,
    phase: 'Succeeded',
    attempts: 1,
    startedAt: at,
    endedAt: at,
    ...(isTest ? { output: testData } : { outputIsInput: true }),
  });
}

/**
 * What another runner left of a node. A mark without an end means that the effect may have happened: what
 * must not be repeated is `Unknown` then, everything else is done again as the same attempt. A wait goes on
 * where it was.
 */
function recall(memory: Memory, node: NodeState, now: number): void {
  const { id, phase, attempts, startedAt, mark } = node;
  if (isEnded(phase)) {
    memory.phases.set(id, phase);
    if (node.output) memory.outputs.set(id, node.output);
    else if (phase !== 'Skipped') memory.outputs.set(id, failedOutput(node.reason, node.message));
    return;
  }
  const firstAt = startedAt === undefined ? {} : { firstAt: startedAt };
  const numbers = mark
    ? { tried: mark.attempt, next: mark.attempt }
    : { tried: attempts, next: attempts + 1 };
  memory.progress.set(id, { ...numbers, ...firstAt });
  if (phase === 'Waiting') recallWait(memory, node);
  if (!mark?.atMostOnce) return;
  const message = 'the runner died while the step was executed, and its effect must not be repeated';
  endNode(memory, id, { phase: 'Unknown', reason: 'EffectUnknown', message }, now);
}

function recallWait(
  memory: Memory,
  { id, reason = 'Internal', message = '', nextAttemptAt }: NodeState,
): void {
  const { claimedAt } = memory.claim;
  const dueAt = performance.now() + Math.max(0, (nextAttemptAt ?? claimedAt) - claimedAt);
  const lastEnd: FailedEnd = { phase: 'Failed', reason: reason as FailureReason, message };
  memory.progress.set(id, { ...progressOf(memory, id), lastEnd, dueAt });
  memory.phases.set(id, 'Waiting');
}

/** References to a failed node find its error, and nothing else. */
function failedOutput(reason = 'Internal', message = ''): NodeOutput {
  return { error: { reason, message } } as unknown as NodeOutput;
}

/** What references see. */
export function scopeOf(memory: Memory): Scope {
  return { node: (id) => memory.outputs.get(id) };
}

/** What is known of a node that has begun. Throws for one that has not. */
export function progressOf(memory: Memory, id: string): Progress {
  const progress = memory.progress.get(id);
  if (!progress) throw new Error(`node ${id} has not begun`);
  return progress;
}

/** Asks for the durable mark of the node's next attempt; the attempt begins when the mark is stored. */
export function mark(memory: Memory, id: string, now: number): void {
  const progress = progressOf(memory, id);
  const { next, firstAt } = progress;
  const atMostOnce = memory.plan.steps.get(id)?.effect === 'AtMostOnce';
  memory.phases.set(id, 'Running');
  memory.starts.push({ id, attempt: next, atMostOnce, at: now, ...(firstAt !== undefined && { firstAt }) });
  memory.progress.set(id, { ...progress, tried: next, firstAt: firstAt ?? now });
}

/** The node will never run. */
export function skip(memory: Memory, id: string, now: number): void {
  memory.phases.set(id, 'Skipped');
  memory.checkpoints.push({ id, phase: 'Skipped', attempts: 0, endedAt: now, ...whyNotAsked(memory, id) });
}

/** Said of nodes that the run was not to reach; that no edge was taken needs no reason. */
function whyNotAsked({ plan: { until } }: Memory, id: string): Pick<NodeState, 'reason' | 'message'> {
  if (until === undefined || until.asked.has(id)) return {};
  return { reason: 'NotAsked', message: `the run was to go as far as node ${until.node}` };
}

/** The node has produced its output. */
export function succeed(memory: Memory, id: string, result: StepResult, now: number): void {
  const { output, usage, reply } = result;
  memory.phases.set(id, 'Succeeded');
  memory.outputs.set(id, output);
  memory.checkpoints.push({ ...times(memory, id, now), phase: 'Succeeded', output, ...(usage && { usage }) });
  if (reply && !memory.reply) memory.reply = reply;
}

/** The node has ended without an output. */
export function endNode(
  memory: Memory,
  id: string,
  { phase, reason, message }: FailedEnd,
  now: number,
): void {
  memory.phases.set(id, phase);
  memory.outputs.set(id, failedOutput(reason, message));
  memory.checkpoints.push({ ...times(memory, id, now), phase, reason, message });
}

/** The attempt failed, and another one follows after that time. */
export function awaitRetry(memory: Memory, id: string, end: FailedEnd, delayMs: number): void {
  const progress = progressOf(memory, id);
  memory.phases.set(id, 'Waiting');
  memory.progress.set(id, {
    ...progress,
    next: progress.tried + 1,
    lastEnd: end,
    dueAt: performance.now() + delayMs,
  });
  memory.waits.push({ id, delayMs });
  const { reason, message } = end;
  memory.checkpoints.push({ ...begun(progress, id), phase: 'Waiting', reason, message });
}

/** The wait of a node is over: it begins its next attempt with the next turn. */
export function endWait(memory: Memory, id: string): void {
  if (memory.phases.get(id) === 'Waiting') memory.phases.set(id, 'Pending');
}

/** The nodes that wait, and in how many milliseconds each is tried again. */
export function waitsOf(memory: Memory): { id: string; leftMs: number }[] {
  return [...memory.phases]
    .filter(([, phase]) => phase === 'Waiting')
    .map(([id]) => ({ id, leftMs: (progressOf(memory, id).dueAt ?? 0) - performance.now() }));
}

/** The attempt was stopped before it had an effect: whoever holds the run next begins it anew. */
export function release(memory: Memory, id: string): void {
  const progress = progressOf(memory, id);
  memory.phases.set(id, 'Pending');
  memory.checkpoints.push({ ...begun(progress, id), phase: 'Pending', attempts: progress.tried - 1 });
}

/**
 * The run store refused this as too large: the nodes that produced something have failed, and so has the run.
 * Without any output it will be taken.
 */
export function refuseOutputs(memory: Memory, refused: Advance, message: string): void {
  for (const { output, usage: _, ...node } of refused.checkpoints ?? []) {
    const fails = output !== undefined && node.id !== memory.plan.trigger.id;
    if (fails) memory.phases.set(node.id, 'Failed');
    const failure = { phase: 'Failed', reason: 'OutputTooLarge', message } as const;
    memory.checkpoints.push({ ...node, ...(fails && failure) });
  }
  // These were never marked, so they have not begun.
  for (const { id, attempt } of refused.starts ?? []) {
    memory.phases.delete(id);
    memory.progress.set(id, { ...progressOf(memory, id), tried: attempt - 1 });
  }
  memory.halt ??= { phase: 'Failed', reason: 'OutputTooLarge', message };
}

function begun({ tried, firstAt }: Progress, id: string): Pick<NodeState, 'id' | 'attempts' | 'startedAt'> {
  return { id, attempts: tried, ...(firstAt !== undefined && { startedAt: firstAt }) };
}

type Times = Pick<NodeState, 'id' | 'attempts' | 'startedAt' | 'endedAt'>;

/** A node without progress is one without effect: it was tried once, now. */
function times(memory: Memory, id: string, now: number): Times {
  const { tried = 1, firstAt = now } = memory.progress.get(id) ?? {};
  return { id, attempts: tried, startedAt: firstAt, endedAt: now };
}
