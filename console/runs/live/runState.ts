/**
 * The state of a run and its nodes, merged from two sources: live events, which arrive at once and have no
 * outputs, and the run as the gateway returns it, which is complete but may be older. Nodes never go back to
 * an earlier phase.
 */
import { isTerminal, NODE_PHASES, RUN_PHASES, type NodePhase, type RunPhase } from '../../../api/phase.ts';
import type { RunView } from '../../../api/runView.ts';
import type { ItemCounts, NodeView, RunHead } from './nodeView.ts';
import type { TextPlace } from './liveText.ts';
import type { ServerEvent } from './sse.ts';
import { foldEntry, readEntryEvent, type Conversation, type EntryEvent } from './conversation.ts';
import { isRecord } from '../../../api/record.ts';

export type RunState = {
  /** Undefined before the first information. */
  run: RunHead | undefined;
  /** By ID. */
  nodes: ReadonlyMap<string, NodeView>;
  /** The conversations of agents, as live events told them, by the ID of the node. */
  conversations: ReadonlyMap<string, Conversation>;
};

export const NO_RUN: RunState = { run: undefined, nodes: new Map(), conversations: new Map() };

export type LiveEvent =
  | { type: 'run'; phase: RunPhase; reason?: string; message?: string; at: number }
  | {
      type: 'node';
      node: string;
      phase: NodePhase;
      attempt: number;
      reason?: string;
      message?: string;
      at: number;
    }
  | { type: 'items'; node: string; items: ItemCounts; at: number }
  | ({ type: 'text'; node: string; text: string } & TextPlace)
  | ({ type: 'transcript'; node: string } & EntryEvent);

/** Parses a server-sent event; undefined for unknown events. */
export function readLiveEvent({ event, data }: ServerEvent): LiveEvent | undefined {
  const read = readJson(data);
  if (read === undefined) return undefined;
  const { node, phase, attempt, reason, message, at } = read;
  const why = {
    ...(typeof reason === 'string' && { reason }),
    ...(typeof message === 'string' && { message }),
    at: typeof at === 'number' ? at : 0,
  };
  if (event === 'run') {
    const known = RUN_PHASES.find((one) => one === phase);
    return known && { type: 'run', phase: known, ...why };
  }
  if (typeof node !== 'string') return undefined;
  if (event === 'text' || event === 'transcript') return readAgentEvent(event, node, read);
  if (event === 'items') {
    const items = itemCounts(read['items']);
    return items && { type: 'items', node, items, at: why.at };
  }
  const known = NODE_PHASES.find((one) => one === phase);
  if (event !== 'node' || known === undefined) return undefined;
  return { type: 'node', node, phase: known, attempt: typeof attempt === 'number' ? attempt : 0, ...why };
}

/** What an agent writes, or an entry of its transcript. */
function readAgentEvent(
  type: 'text' | 'transcript',
  node: string,
  read: Record<string, unknown>,
): LiveEvent | undefined {
  if (type === 'transcript') {
    const told = readEntryEvent(read);
    return told && { type, node, ...told };
  }
  const { text } = read;
  return typeof text === 'string' ? { type, node, text, ...placeOf(read) } : undefined;
}

function placeOf({ position, reset }: Record<string, unknown>): TextPlace {
  return {
    ...(typeof position === 'number' && { position }),
    ...(reset === true && { reset }),
  };
}

function itemCounts(value: unknown): ItemCounts | undefined {
  if (!isRecord(value)) return undefined;
  const { total, succeeded, failed, running } = value;
  const isWhole = [total, succeeded, failed, running].every((each) => typeof each === 'number');
  return isWhole ? ({ total, succeeded, failed, running } as ItemCounts) : undefined;
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The state after an event; the same object if nothing changed. */
export function applyEvent(state: RunState, run: RunHead, event: LiveEvent): RunState {
  if (event.type === 'text') return state;
  if (event.type === 'transcript') {
    const conversation = foldEntry(state.conversations.get(event.node), event);
    return { ...state, conversations: new Map(state.conversations).set(event.node, conversation) };
  }
  if (event.type === 'run') return { ...state, run: headAfter(state.run ?? run, event) };
  const before = state.nodes.get(event.node);
  if (event.type === 'items') return withItems(state, event, before);
  const after = nodeAfter(before, event);
  if (before !== undefined && isOlderView(after, before)) return state;
  return { ...state, run: state.run ?? run, nodes: new Map(state.nodes).set(event.node, after) };
}

/** Counts never go back: a view may be read before the event comes. */
function withItems(
  state: RunState,
  { node, items }: LiveEvent & { type: 'items' },
  before: NodeView | undefined,
): RunState {
  const ended = (counts: ItemCounts | undefined) => (counts ? counts.succeeded + counts.failed : -1);
  if (before !== undefined && (isEnded(before.phase) || ended(before.items) > ended(items))) return state;
  const next: NodeView = { id: node, phase: 'Running', ...before, items: { ...before?.items, ...items } };
  return { ...state, nodes: new Map(state.nodes).set(node, next) };
}

function headAfter(run: RunHead, event: LiveEvent & { type: 'run' }): RunHead {
  if (isTerminal(run.phase)) return run;
  const { phase, reason, message } = event;
  const at = timeOf(event.at);
  return {
    ...run,
    phase,
    ...(phase === 'Running' && run.startTime === undefined && at !== undefined && { startTime: at }),
    ...(isTerminal(phase) && at !== undefined && { completionTime: at }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
}

function nodeAfter(before: NodeView | undefined, event: LiveEvent & { type: 'node' }): NodeView {
  const { node, phase, attempt, reason, message } = event;
  const at = timeOf(event.at);
  const startTime = before?.startTime ?? (phase === 'Skipped' ? undefined : at);
  return {
    id: node,
    phase,
    attempts: attempt,
    ...(startTime !== undefined && { startTime }),
    ...(isEnded(phase) && at !== undefined && { completionTime: at }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...keptOf(before, phase),
  };
}

/** The members of a view that events do not have. */
function keptOf(before: NodeView | undefined, phase: NodePhase): Partial<NodeView> {
  if (before === undefined) return {};
  const { output, usage, agent, transcript, items, item, run, waitingFor } = before;
  return {
    ...(output !== undefined && { output }),
    ...(usage !== undefined && { usage }),
    ...(agent !== undefined && { agent }),
    ...(transcript !== undefined && { transcript }),
    ...(items !== undefined && { items }),
    ...(item !== undefined && { item }),
    ...(run !== undefined && { run }),
    ...(phase === 'Waiting' && waitingFor !== undefined && { waitingFor }),
  };
}

function timeOf(at: number): string | undefined {
  return at > 0 ? new Date(at).toISOString() : undefined;
}

/** Merges the run as the gateway returned it. */
export function applyView(state: RunState, view: RunView): RunState {
  const { nodes: shown, ...head } = view;
  const nodes = new Map(state.nodes);
  for (const node of shown) {
    const before = nodes.get(node.id);
    if (before === undefined || !isOlderView(node, before)) nodes.set(node.id, node);
  }
  const { run } = state;
  const isOlder = run !== undefined && isTerminal(run.phase) && !isTerminal(head.phase);
  return { ...state, run: isOlder ? run : head, nodes };
}

/** Whether a node of that phase is finished. */
export function isEnded(phase: NodePhase): boolean {
  return rankOf(phase) === 3;
}

/** Whether `one` is older than `other`. */
function isOlderView(one: NodeView, other: NodeView): boolean {
  const [rank, otherRank] = [rankOf(one.phase), rankOf(other.phase)];
  if (rank === 3 || otherRank === 3) return rank !== 3;
  const [attempts, otherAttempts] = [one.attempts ?? 0, other.attempts ?? 0];
  return attempts === otherAttempts ? rank < otherRank : attempts < otherAttempts;
}

function rankOf(phase: NodePhase): number {
  if (phase === 'Pending') return 0;
  if (phase === 'Running') return 1;
  return phase === 'Waiting' ? 2 : 3;
}
