/** The transitions of a node: its attempt starts, is returned, or ends, or the node is skipped. */
import { withoutCallbackURLs } from '../api/callback.ts';
import { DISABLED } from '../api/disabled.ts';
import type { FoundBy } from '../api/expression/found.ts';
import type { NodeOutput } from '../api/expression/scope.ts';
import type { NodePhase } from '../api/phase.ts';
import { cutTranscript, progressOfTranscript } from '../api/transcript.ts';
import { roundsOf } from '../nodes/agent/rounds.ts';
import { transcriptOf } from '../nodes/agent/transcript.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import type { Advance } from '../runs/types/advance.ts';
import type { AgentMark, NodeStart, NodeState } from '../runs/types/node.ts';
import type { Reply } from '../runs/types/result.ts';
import { addCheckpoint, agentCounts, startOf } from './changes.ts';
import {
  type ExecutionState,
  isInItem,
  keyOf,
  locate,
  locatedKey,
  progressOf,
  type ScopeState,
  touch,
} from './executionState.ts';
import type { FailedEnd } from './failure.ts';
import { missingShown } from './sent.ts';

/** Bytes of the transcript of a node in the run store and in the record. */
const TRANSCRIPT_BYTES = 32 * 1024;
/** How long results without effects wait for computations, so that one write stores both. */
export const LONGEST_WAIT_MS = 20;

/** References to a failed node can read only its error. */
export function failedOutput(reason = 'Internal', message = ''): NodeOutput {
  return { error: { reason, message } } as unknown as NodeOutput;
}

/** Adds the start mark of the node's next attempt. The attempt starts when the mark is stored. */
export function markAttempt(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  const key = locatedKey(state, scope, id);
  const progress = progressOf(scope, id);
  const { next, firstAt } = progress;
  scope.phases.set(id, 'Running');
  if (scope !== state.root) scope.storedKeys.add(key);
  state.starts.push(startMark(state, scope, id, next, now));
  scope.progress.set(id, { ...progress, tried: next, firstAt: firstAt ?? now });
}

/** `at`: when the attempt starts. */
function startMark(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  attempt: number,
  at: number,
): NodeStart {
  const { firstAt, crashes } = progressOf(scope, id);
  const { hasEffectOnce: atMostOnce = false, effect, hasTools } = state.plan.steps.get(id) ?? {};
  return {
    id: keyOf(scope, id),
    attempt,
    atMostOnce,
    at,
    ...(firstAt !== undefined && { firstAt }),
    ...(crashes !== undefined && { crashes }),
    ...(hasTools && effect !== 'AtMostOnce' && { continues: true }),
    ...(isInItem(scope) && { isSilent: true }),
  };
}

/** The marks of the running agents of these calls, with how far they are. */
export function agentMarks(state: ExecutionState, { calls = [] }: Pick<Advance, 'calls'>): AgentMark[] {
  const keys = new Set(calls.map(({ key }) => key.slice(0, key.lastIndexOf('/'))));
  return [...keys].flatMap((key) => {
    const { scope, id } = locate(state, key);
    const { tried, firstAt = 0, transcript } = scope.progress.get(id) ?? {};
    if (tried === undefined || !transcript || scope.phases.get(id) !== 'Running') return [];
    return { ...startMark(state, scope, id, tried, firstAt), ...progressOfTranscript(transcript) };
  });
}

/** Starts an attempt that has no effect: there is nothing to store before it. */
export function startComputation(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  const key = locatedKey(state, scope, id);
  scope.phases.set(id, 'Running');
  state.computations.push({ id: key, attempt: 1, atMostOnce: false, at: now });
  state.computing.add(key);
  state.waitUntil = performance.now() + LONGEST_WAIT_MS;
  scope.progress.set(id, { ...progressOf(scope, id), tried: 1, firstAt: now });
}

/** Skips the node. */
export function skip(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  endSkipped(state, scope, { id, now, ...reasonOfSkip(state, id) });
}

/** Skips a node that was reached, because it is disabled. */
export function passOver(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  endSkipped(state, scope, { id, now, reason: DISABLED, message: 'skipped: the step is disabled' });
}

function endSkipped(
  state: ExecutionState,
  scope: ScopeState,
  { id, now, ...why }: { id: string; now: number } & Pick<NodeState, 'reason' | 'message'>,
): void {
  scope.phases.set(id, 'Skipped');
  // Another runner may have waited for its memory, or handed it back while it used it.
  if (state.plan.steps.get(id)?.memory && scope.progress.has(id)) state.memories.release(keyOf(scope, id));
  if (isInItem(scope)) return;
  const node: NodeState = { id, phase: 'Skipped', attempts: 0, endedAt: now, ...why };
  addCheckpoint(state, scope, node);
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
export function succeed(
  state: ExecutionState,
  key: string,
  result: StepResult,
  now: number,
  counts: Pick<NodeState, 'items' | 'sent' | 'missing'> = {},
): void {
  const { scope, id } = locate(state, key);
  const { usage } = result;
  const { output, log } = hideCallbackURLs(state, { output: result.output, log: result.log });
  const reply = result.reply ?? (isAnswer(state, scope, id) ? textReply(output) : undefined);
  closeNode(state, scope, id, { phase: 'Succeeded', now });
  scope.outputs.set(id, output);
  const { effect, loop } = state.plan.steps.get(id) ?? {};
  const isPure = effect === 'None' && loop === undefined;
  // A node without an effect is computed again where its item continues after a crash.
  if (!(isPure && isInItem(scope)))
    addCheckpoint(state, scope, {
      ...times(scope, id, now),
      phase: 'Succeeded',
      output,
      ...(usage && { usage }),
      ...(log && { log }),
      ...counts,
    });
  if (reply && !state.reply) state.reply = reply;
}

/** Whether the text of the node answers the message of a chat. */
function isAnswer({ plan }: ExecutionState, scope: ScopeState, id: string): boolean {
  return plan.answer === id && !isInItem(scope);
}

function textReply({ text_content }: NodeOutput): Reply {
  return { status: 200, headers: {}, body: text_content, contentType: 'text/plain; charset=utf-8' };
}

/** Ends the node without an output. */
export function endNode(
  state: ExecutionState,
  key: string,
  end: FailedEnd,
  now: number,
  counts: Pick<NodeState, 'items' | 'sent' | 'missing'> = {},
): void {
  const { missing: found, ...rest } = end;
  const { phase, reason, message, log } = withoutCallbackURLs(rest);
  const { scope, id } = locate(state, key);
  if (found) noteMissing(state, scope, id, found, now);
  closeNode(state, scope, id, { phase, now, failure: { reason, message } });
  scope.outputs.set(id, failedOutput(reason, message));
  addCheckpoint(state, scope, {
    ...times(scope, id, now),
    phase,
    reason,
    message,
    ...(log && { log }),
    ...counts,
  });
}

/**
 * Notes that the child run of a node has ended with an effect in doubt: the groups around the node are not
 * retried, because another child run would repeat the effect.
 */
export function noteChildInDoubt(state: ExecutionState, key: string): void {
  for (let at: ScopeState | undefined = locate(state, key).scope; at; at = at.parent) at.hasDoubt = true;
}

/** Notes what the reference found because of which the node fails, also for the sample of a loop. */
function noteMissing(state: ExecutionState, scope: ScopeState, id: string, by: FoundBy, now: number): void {
  const missing = missingShown(state, id, by);
  if (!missing) return;
  const { progress } = scope;
  progress.set(id, { ...(progress.get(id) ?? { tried: 1, next: 1, firstAt: now }), missing });
}

/** Notes that the node has ended: nothing of it waits any more. */
function closeNode(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  { phase, ...end }: { phase: NodePhase; now: number; failure?: { reason: string; message: string } },
): void {
  const key = keyOf(scope, id);
  scope.phases.set(id, phase);
  state.located.delete(key);
  state.timers.delete(key);
  state.computing.delete(key);
  noteEarlierCalls(state, scope, id);
  state.calls.drop(key);
  if (state.plan.steps.get(id)?.memory) {
    const { recordData, sensitive } = state.plan;
    const isRecorded = recordData === undefined || (recordData === 'Errors' && phase !== 'Succeeded');
    const isRedacted = sensitive.has(id) || !isRecorded;
    state.memories.end(key, { ...end, run: state.claim.state.run, isRedacted }, withoutCallbackURLs);
  }
  state.signals.awaiting.delete(key);
  state.abandonedChildren.push(...(state.children.get(key) ?? []));
  state.children.delete(key);
  touch(scope);
}

/**
 * The transcript of an agent that ends before this runner has executed it: whoever resumes the run must know
 * which tools it has called.
 */
function noteEarlierCalls({ plan, calls }: ExecutionState, scope: ScopeState, id: string): void {
  const progress = scope.progress.get(id);
  if (!plan.steps.get(id)?.hasTools || !progress || progress.transcript) return;
  const rounds = roundsOf(calls.of(keyOf(scope, id)));
  if (rounds.length === 0) return;
  scope.progress.set(id, { ...progress, transcript: withoutCallbackURLs(transcriptOf([], rounds)) });
}

/** Replaces the URLs of callbacks: readers of a run could resume it with them. */
function hideCallbackURLs<T extends object>({ plan }: ExecutionState, value: T): T {
  return plan.hasCallbacks ? withoutCallbackURLs(value) : value;
}

/** Returns a node whose attempt was stopped before it had an effect: the next runner repeats the attempt. */
export function release(state: ExecutionState, key: string): void {
  const { scope, id } = locate(state, key);
  const progress = progressOf(scope, id);
  if (state.plan.steps.get(id)?.effect === 'None') {
    state.computing.delete(key);
    scope.phases.delete(id);
    scope.progress.delete(id);
    touch(scope);
    return;
  }
  scope.phases.set(id, 'Pending');
  addCheckpoint(state, scope, {
    ...startOf(progress, id),
    phase: 'Pending',
    attempts: progress.tried - 1,
  });
}

type Times = Pick<
  NodeState,
  | 'id'
  | 'attempts'
  | 'startedAt'
  | 'endedAt'
  | 'run'
  | 'transcript'
  | 'agent'
  | 'usage'
  | 'mocked'
  | 'sent'
  | 'missing'
>;

/** A node without progress has no effect: it had one attempt, now. */
function times({ progress }: ScopeState, id: string, now: number): Times {
  const known = progress.get(id);
  const { tried = 1, firstAt = now, run, transcript, mocked, sent, missing } = known ?? {};
  return {
    id,
    attempts: tried,
    startedAt: firstAt,
    endedAt: now,
    ...(run !== undefined && { run }),
    ...(mocked && { mocked }),
    ...(sent && { sent }),
    ...(missing && { missing }),
    ...(transcript && { transcript: cutTranscript(transcript, TRANSCRIPT_BYTES) }),
    ...(known && agentCounts(known)),
  };
}
