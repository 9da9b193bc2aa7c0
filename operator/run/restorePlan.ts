/** The plan for a recorded unfinished run after the run store lost its data. Pure. */
import { joinExact, parseExact } from '../../api/exact/exactNumber.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { ANNOTATION } from '../../api/group.ts';
import { parseAmount } from '../../api/money.ts';
import type { Testing } from '../../api/mock.ts';
import type { Revision } from '../../api/revision.ts';
import { isTerminal } from '../../api/phase.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { RunStatus } from '../../api/run.ts';
import type { NodeOutput } from '../../api/value.ts';
import { hasEffectOnce, isAtMostOnce, runsWorkflows } from '../../nodes/register.ts';
import { compileFields, executePure } from '../../nodes/step.ts';
import { hasToolOnce } from '../../runs/calledTools.ts';
import { dedupeMarkOf, parentRefOf } from '../../runs/record/restoreAnnotations.ts';
import type { RecordedRun } from '../../runs/restore.ts';
import type { NodeState, SentParameters } from '../../runs/types/node.ts';
import type { Reply } from '../../runs/types/result.ts';
import type { RunUsage } from '../../runs/types/run.ts';
import { isNew } from './decide.ts';
import type { RunEnding } from './end.ts';
import { hasEnded, lostReference } from './lostData.ts';
import type { NamedRevision } from '../shared/revisions.ts';

export type Found = {
  /** The uid of the workflow of that name, if there is one. */
  workflowUid: string | undefined;
  /**
   * The uid of the workflow that the run was created for: of its owner, or if it has none, of the owner of
   * its revision.
   */
  madeFor: string | undefined;
  revision: NamedRevision | undefined;
  /** Undefined if it is that of another run, and lost. */
  input: string | undefined;
  /** The last node of the run, if it ends early. */
  until?: string | undefined;
  testing?: Testing | undefined;
  /** The parent, which would wait for the run, has ended, or has no record. */
  isOrphan?: boolean;
};

export type RestorePlan =
  | { kind: 'restore'; run: RecordedRun; revision: NamedRevision }
  | { kind: 'end'; ending: RunEnding }
  | { kind: 'leave' };

/** The plan for the run, which was read from the API server and not from a cache. */
export function planRestore(
  run: WorkflowRun,
  { workflowUid, madeFor, revision, input, until, testing, isOrphan }: Found,
): RestorePlan {
  const { metadata, spec, status } = run;
  const { epoch } = status ?? {};
  if (isTerminal(status?.phase) || metadata.deletionTimestamp !== undefined || isNew(run)) {
    return { kind: 'leave' };
  }
  if (workflowUid === undefined || (madeFor !== undefined && madeFor !== workflowUid)) {
    const message = `Workflow ${spec.workflow} was deleted before the run had ended.`;
    return endOf({ phase: 'Cancelled', reason: 'Cancelled', message }, revision);
  }
  const cancelled = whyCancelled(run, isOrphan);
  if (cancelled !== undefined)
    return endOf({ phase: 'Cancelled', reason: 'Cancelled', message: cancelled }, revision);
  if (!revision) {
    const message = 'The revision of the run no longer exists.';
    return endOf({ phase: 'Failed', reason: 'RevisionMissing', message }, undefined);
  }
  if (epoch === undefined) {
    // The record was created, but no progress was written. Executing the run again could repeat effects.
    const message = `The run store lost its data before the progress of the run was recorded, so it is unknown which nodes ran. Check what they have done, then create a new WorkflowRun with spec.retryOf: ${metadata.name}.`;
    return endOf({ phase: 'Failed', reason: 'DataLost', message }, revision);
  }
  const lost = input === undefined ? 'its input' : lostReference(run, revision.revision);
  if (input === undefined || lost !== undefined) {
    const message = `The run store lost its data, and the record does not have all of ${lost}, which a step still needs. Check what its nodes have done, then create a new WorkflowRun with spec.retryOf: ${metadata.name}.`;
    return endOf({ phase: 'Failed', reason: 'DataLost', message }, revision);
  }
  const recorded = { ...recordedRun(run, workflowUid, revision, input), epoch, until, testing };
  return { kind: 'restore', run: recorded, revision };
}

/** Why the run must not continue; undefined if it may. */
function whyCancelled({ metadata, spec }: WorkflowRun, isOrphan = false): string | undefined {
  const { cancel, parent } = spec;
  if (cancel) return 'The run was cancelled. The run store had lost it before it ended.';
  // Of an object that a user created, the parent says nothing.
  if (!isOrphan || metadata.annotations?.[ANNOTATION.recorded] === undefined) return undefined;
  return `The parent of the run, ${parent?.run}, has ended. The run store had lost this run before it ended.`;
}

function endOf(ending: Omit<RunEnding, 'isRepeatable'>, revision: NamedRevision | undefined): RestorePlan {
  const isRepeatable = (id: string): boolean => {
    const step = revision?.revision.steps.find((it) => it.id === id);
    return step !== undefined && !hasEffectOnce(step);
  };
  return { kind: 'end', ending: { ...ending, isRepeatable } };
}

function recordedRun(
  run: WorkflowRun,
  workflowUid: string,
  { name, revision }: NamedRevision,
  input: string,
): Omit<RecordedRun, 'epoch'> {
  const { metadata, spec, status = {} } = run;
  const { uid = '' } = metadata;
  const recordedBy = metadata.annotations?.[ANNOTATION.recorded];
  const reply = replyOf(run, revision, input);
  return {
    run: metadata.name,
    uid,
    workflow: spec.workflow,
    workflowUid,
    revision: name,
    trigger: spec.trigger?.type ?? status.trigger ?? 'execute',
    test: spec.test === true,
    dedupeKey: spec.trigger?.key,
    dedupe: dedupeMarkOf(metadata.annotations),
    retryOf: spec.retryOf,
    origin: status.origin,
    requestedBy: spec.requestedBy,
    // Of an object that a user created, the parent says nothing.
    ...(recordedBy !== undefined && { parent: parentRefOf(metadata.annotations, spec.parent) }),
    ...(recordedBy === undefined ? { recordUid: uid } : { recordedBy }),
    input,
    sequence: status.sequence ?? 0,
    ...timesOf(run, revision),
    nodes: (status.nodes ?? []).map((node) => recordedNode(node, revision)),
    ...withoutUndefined({ idleUntil: idleUntilOf(run) }),
    ...(status.usage && { usage: recordedUsage(status.usage) }),
    ...(status.inDoubt && { isInDoubt: true }),
    ...(reply && { reply }),
  };
}

function recordedUsage({
  tokens,
  estimatedTokens: estimated = 0,
  cost = '0',
  currency = '',
}: NonNullable<RunStatus['usage']>): RunUsage {
  return { tokens, estimated, cost: parseAmount(cost) ?? 0, currency };
}

type Times = Pick<RecordedRun, 'acceptedAt' | 'startedAt' | 'timeoutMs' | 'deadlineAt'>;

function timesOf(run: WorkflowRun, revision: Revision): Times {
  const { timeoutMs } = revision;
  const { status = {}, metadata } = run;
  const startedAt = timeOf(status.startTime);
  return {
    acceptedAt: timeOf(status.acceptedTime) ?? timeOf(metadata.creationTimestamp) ?? 0,
    timeoutMs,
    ...(startedAt !== undefined && { startedAt }),
    // Waiting does not count and its duration is not recorded: after a wait, the timeout starts again.
    ...(startedAt !== undefined && !hasWaited(run, revision) && { deadlineAt: startedAt + timeoutMs }),
  };
}

/**
 * A parked run begins no node before one is due, unless it takes a callback, which may have come at any time.
 * The record does not show later changes of other runs, nor when the waits inside of a loop or group end.
 */
function idleUntilOf({ status }: WorkflowRun): number | undefined {
  const { phase: phaseOfRun, nodes = [] } = status ?? {};
  if (phaseOfRun !== 'Waiting' || nodes.some(({ phase }) => phase === 'Running')) return undefined;
  const waiting = nodes.filter(({ phase }) => phase === 'Waiting');
  // A child run may have ended at any time, a callback may have come, and a memory may have become free.
  const mayHaveEnded = waiting.some(
    ({ run, reason, waitingFor }) =>
      waitingFor?.callback !== undefined ||
      waitingFor?.memory !== undefined ||
      (run !== undefined && reason === undefined),
  );
  if (mayHaveEnded) return undefined;
  const due = waiting.map((node) => endOfWait(node) ?? 0);
  return due.length > 0 ? Math.min(...due) : undefined;
}

/** When the wait of a node ends, in milliseconds since 1970. */
function endOfWait({ nextAttemptTime, waitingFor }: NodeStatus): number | undefined {
  return timeOf(
    waitingFor?.until ?? waitingFor?.callback?.until ?? waitingFor?.memory?.until ?? nextAttemptTime,
  );
}

function mayPark(step: Revision['steps'][number]): boolean {
  return step.kind === 'wait' || runsWorkflows(step) || (step.kind === 'agent' && !!step.agent.memory);
}

/**
 * Whether the run may have been parked: for a retry, by a node that waits, for the memory of an agent, or by
 * one in a group.
 */
function hasWaited({ status }: WorkflowRun, { steps }: Revision): boolean {
  const waits = new Set(steps.filter(mayPark).map(({ id }) => id));
  // A group precedes its body.
  for (const { id, within } of steps.toReversed())
    if (within !== undefined && waits.has(id)) waits.add(within);
  return (status?.nodes ?? []).some(
    ({ id, phase, attempts = 0, startTime }) =>
      phase === 'Waiting' || attempts > 1 || (startTime !== undefined && waits.has(id)),
  );
}

function restoredWait({
  callback,
  memory,
}: NonNullable<NodeStatus['waitingFor']>): NonNullable<NodeState['waitingFor']> {
  if (callback) return { callback: true };
  return memory ? { memory: true } : { time: true };
}

/**
 * A node that had begun gets a start mark: it is executed again as the same attempt, or becomes `Unknown` if
 * it must not be. So does an agent that waits for its next attempt after calls that must not be repeated.
 */
export function recordedNode(node: NodeStatus, { trigger, steps }: Revision): NodeState {
  const {
    id,
    phase,
    attempts = 0,
    startTime,
    completionTime,
    waitingFor,
    reason,
    message,
    usage,
    run,
    items,
    item,
  } = node;
  const step = steps.find((it) => it.id === id);
  const output = node.output && outputOf(node);
  const isInput = id === trigger.id && phase === 'Succeeded';
  const times = {
    startedAt: timeOf(startTime),
    endedAt: timeOf(completionTime),
    nextAttemptAt: endOfWait(node),
  };
  const mark = { attempt: Math.max(attempts, 1), atMostOnce: !step || hasEffectOnce(step) };
  return {
    id,
    phase,
    attempts,
    ...withoutUndefined({ ...times, reason, message, run }),
    ...(waitingFor && { waitingFor: restoredWait(waitingFor) }),
    ...(usage && { usage: withoutUndefined(usage) }),
    ...(isInput ? { outputIsInput: true } : output && { output }),
    ...detailsOf(node),
    ...(items && { items: { ...items, failures: items.failures ?? [] } }),
    ...(item !== undefined && { item }),
    ...((phase === 'Running' || mayHaveCalledOnce(node, step)) && { mark }),
  };
}

/**
 * Whether the node is an agent that waits for its next attempt, and may have called a tool whose effect must
 * not be repeated: its calls are lost, so that the model would call the tool again.
 */
function mayHaveCalledOnce(
  { phase, reason, agent }: NodeStatus,
  step: Revision['steps'][number] | undefined,
): boolean {
  if (phase !== 'Waiting' || reason === undefined || !step) return false;
  return hasToolOnce(step, isAtMostOnce) && agent?.toolCalls !== 0;
}

function detailsOf({ agent, mocked, transcript, sent, missing }: NodeStatus): Partial<NodeState> {
  return {
    ...(sent && { sent: sent as SentParameters }),
    ...(missing && { missing }),
    ...(agent && { agent }),
    ...(mocked && { mocked }),
    ...(transcript && { transcript: transcriptOf(transcript) }),
  };
}

function transcriptOf({
  entries,
  omitted = 0,
}: NonNullable<NodeStatus['transcript']>): NonNullable<NodeState['transcript']> {
  return {
    omitted,
    entries: entries.map(({ error, startTime, completionTime, role, text, usage, ...entry }) => ({
      role,
      text,
      ...withoutUndefined(entry),
      ...(usage && {
        usage: { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 },
      }),
      ...withoutUndefined({ startedAt: timeOf(startTime), endedAt: timeOf(completionTime) }),
      ...(error && { isError: true as const }),
    })),
  };
}

function outputOf({ output }: NodeStatus): NodeOutput {
  return {
    text_content: output?.text_content ?? '',
    data_content: joinExact(output?.data_content ?? null, output?.exact),
  };
}

/** The reply of the first response node, computed from the outputs of the nodes before it. */
function replyOf(run: WorkflowRun, { trigger, steps }: Revision, input: string): Reply | undefined {
  const nodes = (run.status?.nodes ?? []).filter(hasEnded);
  const answered = nodes
    .filter(
      ({ id, phase }) => phase === 'Succeeded' && steps.some((it) => it.id === id && it.kind === 'response'),
    )
    .toSorted((a, b) => (timeOf(a.completionTime) ?? 0) - (timeOf(b.completionTime) ?? 0));
  const step = steps.find(({ id }) => id === answered[0]?.id);
  if (!step || nodes.some(({ truncated }) => truncated)) return undefined;
  const outputs = new Map(nodes.map((node) => [node.id, outputOf(node)]));
  outputs.set(trigger.id, parseExact(input) as NodeOutput);
  try {
    return executePure(step, compileFields(step)({ node: (id) => outputs.get(id) })).reply;
  } catch {
    // It used data that a record does not have, such as headers.
    return undefined;
  }
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** Without members that are undefined. */
function withoutUndefined<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
