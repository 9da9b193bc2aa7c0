/**
 * The record of a run: its WorkflowRun. A pure projection, so that anyone may repeat it; bounded, so that it
 * always fits into the API server's store.
 */
import { parseExact, splitExact, type ExactDigits } from '../../api/exact/exactNumber.ts';
import { amountText } from '../../api/money.ts';
import { isTerminal, type RunPhase } from '../../api/phase.ts';
import { type NodeStatus } from '../../api/nodeStatus.ts';
import { type RunSpec, type RunStatus } from '../../api/run.ts';
import { cutTranscript, type Transcript } from '../../api/transcript.ts';
import type { NodeOutput } from '../../api/value.ts';
import { settledNode } from '../read.ts';
import { transcriptStatus } from '../transcript.ts';
import type { ItemCounts, NodeState, SentParameters } from '../types/node.ts';
import type { Decision, RunState, RunUsage } from '../types/run.ts';
import type { RunSummary } from '../types/summary.ts';
import { inOrderOf } from './order.ts';

export type RecordLimits = {
  /** Bytes of one output, as JSON. */
  maxOutputBytes: number;
  /** Bytes of all outputs together. */
  maxTotalBytes: number;
  /** Bytes of the messages of all nodes together. */
  maxMessageBytes: number;
  /** Bytes of the transcripts of all agents together. */
  maxTranscriptBytes: number;
  /** Bytes of what all nodes have sent. */
  maxSentBytes: number;
};

export const RECORD_LIMITS: RecordLimits = {
  maxOutputBytes: 64 * 1024,
  maxTotalBytes: 512 * 1024,
  maxMessageBytes: 128 * 1024,
  maxTranscriptBytes: 128 * 1024,
  maxSentBytes: 64 * 1024,
};

type Output = { text_content?: string; data_content?: unknown; exact?: ExactDigits };
type Fitted = { output: Output; truncated: boolean; bytes: number };

const REASON_LENGTH = 1_024;
const MESSAGE_LENGTH = 4_096;
const NODE_REASON_LENGTH = 64;
const LINE_MESSAGE_LENGTH = 300;

/** Spec and status of the run's WorkflowRun. `order` is the order in which its revision lists the nodes. */
export function toRecord(
  state: RunState,
  limits: RecordLimits = RECORD_LIMITS,
  order: string[] = [],
): { spec: RunSpec; status: RunStatus } {
  return { spec: specOf(state, limits), status: statusOf(state, limits, order) };
}

/** The summary of a run, for when the run has left the store. */
export function toSummary(state: RunState): RunSummary {
  if (!isTerminal(state.phase) || state.endedAt === undefined)
    throw new Error('only a run that has ended has a line');
  const { run, workflow, phase, trigger, test, requestedBy } = state;
  const { acceptedAt, startedAt, endedAt, reason, message } = state;
  return {
    run,
    workflow,
    phase,
    trigger,
    test,
    acceptedAt,
    endedAt,
    ...(requestedBy !== undefined && { requestedBy }),
    ...(startedAt !== undefined && { startedAt }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message: message.slice(0, LINE_MESSAGE_LENGTH) }),
  };
}

function specOf(state: RunState, { maxOutputBytes }: RecordLimits): RunSpec {
  // A test run without input takes the trigger's test data, which its first node shows.
  const input = state.input === '' ? undefined : (parseExact(state.input) as Partial<NodeOutput>);
  const fitted = input && fit(input, maxOutputBytes);
  return {
    workflow: state.workflow,
    revision: state.revision,
    trigger: { type: state.trigger, ...(state.dedupeKey !== undefined && { key: state.dedupeKey }) },
    ...(fitted && { input: fitted.output }),
    ...((fitted?.truncated || state.inputRedacted || state.isInputPartial) && { inputTruncated: true }),
    ...(state.inputRedacted && { inputRedacted: true }),
    ...(state.test && { test: true }),
    ...repeatedOf(state),
    ...(state.until !== undefined && { until: state.until }),
    ...state.testing,
    ...(state.requestedBy !== undefined && { requestedBy: state.requestedBy }),
    ...(state.parent && { parent: { run: state.parent.run, node: state.parent.node } }),
  };
}

/** The fields of the spec about the run that this run repeats or resumes. */
function repeatedOf({
  retryOf,
  origin,
  decisions,
}: RunState): Pick<RunSpec, 'retryOf' | 'resume' | 'decisions'> {
  return {
    ...(retryOf !== undefined && { retryOf }),
    ...(origin !== undefined && { resume: true }),
    ...(decisions && { decisions: decisions.map(recordedDecision) }),
  };
}

function recordedDecision({ node, outcome, output }: Decision): NonNullable<RunSpec['decisions']>[number] {
  if (!output) return { node, outcome };
  const { text_content = '', data_content = null } = output;
  const { data, exact } = splitExact(data_content);
  return { node, outcome, output: { text_content, data_content: data, ...(exact && { exact }) } };
}

function statusOf(state: RunState, limits: RecordLimits, order: string[]): RunStatus {
  const { startedAt, endedAt } = state;
  return {
    phase: state.phase,
    epoch: state.epoch,
    sequence: state.sequence,
    trigger: state.trigger,
    acceptedTime: rfc3339(state.acceptedAt),
    ...(startedAt !== undefined && { startTime: rfc3339(startedAt) }),
    ...(endedAt !== undefined && { completionTime: rfc3339(endedAt) }),
    ...(endedAt !== undefined && { duration: durationText(endedAt - (startedAt ?? endedAt)) }),
    ...why(state),
    revision: state.revision,
    ...(state.origin !== undefined && { origin: state.origin }),
    ...(state.doubt && { inDoubt: true }),
    ...(state.onFailure && { onFailure: state.onFailure }),
    ...(state.usage && { usage: usageOf(state.usage) }),
    conditions: [succeeded(state)],
    nodes: nodesOf(state, limits, order),
  };
}

/** What the agents of a run used, as its status shows it. */
export function usageOf({ tokens, estimated, cost, currency }: RunUsage): NonNullable<RunStatus['usage']> {
  return {
    tokens,
    ...(estimated > 0 && { estimatedTokens: estimated }),
    ...(cost > 0 && { cost: amountText(cost), currency }),
  };
}

const PHASE_MEANS: Record<RunPhase, string> = {
  Pending: 'The run waits for a runner.',
  Running: 'A runner executes the run.',
  Waiting: 'The run waits, and holds no runner.',
  Succeeded: 'The run succeeded.',
  Failed: 'The run failed.',
  Cancelled: 'The run was cancelled.',
};

function succeeded(state: RunState): NonNullable<RunStatus['conditions']>[number] {
  const status = state.phase === 'Succeeded' ? 'True' : isTerminal(state.phase) ? 'False' : 'Unknown';
  return {
    type: 'Succeeded',
    status,
    reason: cut(state.reason ?? state.phase, REASON_LENGTH),
    message: cut(state.message ?? meaningOf(state), MESSAGE_LENGTH),
    lastTransitionTime: rfc3339(state.endedAt ?? state.acceptedAt),
  };
}

function meaningOf({ phase, nodes }: RunState): string {
  const waits = nodes.filter((node) => node.phase === 'Waiting' && node.nextAttemptAt !== undefined);
  const until = Math.min(...waits.map(({ nextAttemptAt = Infinity }) => nextAttemptAt));
  if (phase !== 'Waiting' || !Number.isFinite(until)) return PHASE_MEANS[phase];
  return `The run waits until ${rfc3339(until)}, and holds no runner.`;
}

/** Outputs get their space in the order of the list. */
function nodesOf(state: RunState, limits: RecordLimits, order: string[]): NodeStatus[] {
  const nodes = inOrderOf(state.nodes, order);
  let room = limits.maxTotalBytes;
  let transcriptRoom = limits.maxTranscriptBytes;
  let sentRoom = limits.maxSentBytes;
  const messageBytes = Math.floor(limits.maxMessageBytes / nodes.length);
  return nodes.map((node) => {
    const whole = isTerminal(state.phase) ? settledNode(node, state.phase, state.endedAt) : node;
    const { sent: _sent, missing: _missing, ...settled } = whole;
    const items = settled.items && itemsIn(room, settled.items);
    room -= items ? storedBytes(items) : 0;
    const fitted = node.output && fit(node.output, Math.max(0, Math.min(limits.maxOutputBytes, room)));
    room -= fitted?.bytes ?? 0;
    const log = settled.log && cutToJson(settled.log, Math.max(0, room));
    room -= log ? storedBytes(log) : 0;
    const mocked = settled.mocked && mockedIn(room, settled.mocked);
    room -= bytesOfPart(mocked);
    const transcript = settled.transcript && transcriptIn(transcriptRoom, settled.transcript);
    transcriptRoom -= bytesOfPart(transcript);
    const given = givenIn(sentRoom, whole);
    sentRoom -= storedBytes(given);
    const fittedNode = {
      ...settled,
      ...given,
      ...(log !== undefined && { log }),
      ...(items && { items }),
      ...(mocked && { mocked }),
      ...(transcript && { transcript }),
    };
    return nodeStatus(inShort(fittedNode, messageBytes), fitted);
  });
}

function nodeStatus(node: NodeState, fitted: Fitted | undefined): NodeStatus {
  return {
    id: node.id,
    phase: node.phase,
    attempts: node.attempts,
    ...(node.startedAt !== undefined && { startTime: rfc3339(node.startedAt) }),
    ...(node.endedAt !== undefined && { completionTime: rfc3339(node.endedAt) }),
    ...waitOf(node),
    ...(node.run !== undefined && { run: node.run }),
    ...(fitted && { output: fitted.output }),
    ...((fitted?.truncated || node.redacted) && { truncated: true }),
    ...(node.redacted && { redacted: true }),
    ...why(node),
    ...detailsOf(node),
    ...(node.items && { items: node.items }),
    ...(node.item !== undefined && { item: node.item }),
  };
}

/** What the record tells of the execution of the node beside its output. */
function detailsOf({ usage, agent, log, transcript, mocked, sent, missing }: NodeState): Partial<NodeStatus> {
  return {
    ...(usage && { usage }),
    ...(agent && { agent }),
    ...(log && { log }),
    ...(transcript && { transcript: transcriptStatus(transcript) }),
    ...(mocked && { mocked }),
    ...(sent && { sent }),
    ...(missing && { missing }),
  };
}

function bytesOfPart(part: object | undefined): number {
  return part === undefined ? 0 : storedBytes(part);
}

/** The mock without its parameters, where there is no room for them. */
function mockedIn(room: number, { parameters }: NonNullable<NodeState['mocked']>): NodeState['mocked'] {
  if (parameters === undefined || storedBytes(parameters) > room) return {};
  return { parameters: splitExact(parameters).data };
}

/** What a node has sent, and what its failed reference found, as far as there is room. */
function givenIn(room: number, { sent, missing }: NodeState): Pick<NodeState, 'sent' | 'missing'> {
  const given = sent && sentIn(room, sent);
  const hasRoom = missing !== undefined && storedBytes(missing) <= room - bytesOfPart(given);
  return { ...(given && { sent: given }), ...(hasRoom && { missing }) };
}

function sentIn(room: number, { parameters, truncated }: SentParameters): SentParameters | undefined {
  if (storedBytes(parameters) > room) return undefined;
  return { parameters: splitExact(parameters).data, ...(truncated && { truncated }) };
}

function transcriptIn(room: number, { entries, omitted }: Transcript): Transcript {
  const cut = cutTranscript(entries, Math.max(0, room), storedBytes);
  return { entries: cut.entries, omitted: omitted + cut.omitted };
}

/** Until when a node waits: for its next attempt, its time or its callback. */
export function waitOf({
  waitingFor,
  nextAttemptAt,
}: NodeState): Pick<NodeStatus, 'nextAttemptTime' | 'waitingFor'> {
  if (nextAttemptAt === undefined) return {};
  const at = rfc3339(nextAttemptAt);
  if (waitingFor?.callback) return { waitingFor: { callback: { until: at } } };
  if (waitingFor?.memory) return { waitingFor: { memory: { until: at } } };
  return waitingFor?.time ? { waitingFor: { until: at } } : { nextAttemptTime: at };
}

/** A node with its message cut to its share of the record. */
function inShort(node: NodeState, bytes: number): NodeState {
  const { reason, message } = node;
  return {
    ...node,
    ...(reason !== undefined && { reason: cut(reason, NODE_REASON_LENGTH) }),
    ...(message !== undefined && { message: cutToJson(cut(message, MESSAGE_LENGTH), bytes) }),
  };
}

/** The counts of items, with the failures and the items that have ended as far as there is room. */
function itemsIn(room: number, { failures, ended, ...counts }: ItemCounts): ItemCounts {
  const short = failures.map(({ index, reason, message }) => ({
    index,
    reason: cut(reason, NODE_REASON_LENGTH),
    message: cut(message, LINE_MESSAGE_LENGTH),
  }));
  const bits = ended === undefined ? {} : { ended };
  const forms = [
    { ...counts, failures: short, ...bits },
    { ...counts, failures: [], ...bits },
  ];
  return forms.find((form) => storedBytes(form) <= room) ?? { ...counts, failures: [] };
}

function why({ reason, message }: { reason?: string; message?: string }) {
  return {
    ...(reason !== undefined && { reason: cut(reason, REASON_LENGTH) }),
    ...(message !== undefined && { message: cut(message, MESSAGE_LENGTH) }),
  };
}

/** As much of an output as fits: all of it, or its data alone, or the beginning of its text. */
function fit({ text_content = '', data_content = null }: Output, room: number): Fitted {
  // A character takes at least a byte: a far too long text is not measured.
  const textBytes = text_content.length > room ? Infinity : storedBytes(text_content);
  const { data, exact } = splitExact(data_content);
  const dataBytes = storedBytes(data) + bytesOf(exact);
  const keepsData = dataBytes <= room;
  const textRoom = Math.max(0, room - (keepsData ? dataBytes : 0));
  const keepsText = textBytes <= textRoom;
  const text = keepsText ? text_content : cutToJson(text_content, textRoom);
  return {
    output: {
      text_content: text,
      data_content: keepsData ? data : null,
      ...(keepsData && exact && { exact }),
    },
    truncated: !keepsData || !keepsText,
    bytes: (keepsData ? dataBytes : 0) + (keepsText ? textBytes : storedBytes(text)),
  };
}

/** How many bytes an output takes at most in a record. */
export function outputBytes({ text_content = '', data_content = null }: Output): number {
  const { data, exact } = splitExact(data_content);
  return storedBytes(text_content) + storedBytes(data) + bytesOf(exact);
}

function bytesOf(exact: ExactDigits | undefined): number {
  return exact === undefined ? 0 : storedBytes(exact);
}

/** The beginning of a text whose JSON has at most so many bytes. */
function cutToJson(text: string, bytes: number): string {
  let length = Math.min(text.length, bytes);
  while (length > 0 && storedBytes(cut(text, length)) > bytes) length = Math.floor(length * 0.9);
  return cut(text, length);
}

/** The first characters of a text; never half of one. */
function cut(text: string, length: number): string {
  const short = text.slice(0, length);
  return short.length < text.length ? short.replace(/[\ud800-\udbff]$/, '') : short;
}

/**
 * Of what the API server's JSON writer escapes and ours does not, one by one: `<`, `>`, `&`, two line ends,
 * `\b` and `\f`.
 */
const ESCAPED = /[<>&\u2028\u2029]|\\[bf]/g;

/** How many bytes the value takes at most as the API server stores it: it writes `<` as `\u003c`. */
export function storedBytes(value: unknown): number {
  const text = JSON.stringify(value) ?? 'null';
  return Buffer.byteLength(text) + (text.match(ESCAPED)?.length ?? 0) * 5;
}

function rfc3339(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** `85ms`, `1.2s`, `3m12s`, `2h5m`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.max(0, Math.round(milliseconds))}ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)}s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3_600)}h${Math.floor((seconds % 3_600) / 60)}m`;
}
