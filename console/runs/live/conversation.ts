/**
 * The conversation of an agent: the entries of its transcript by position, from live events or from the
 * record. Events may come twice, and some may be lost: the record has the rest. Pure.
 */
import { isRecord } from '../../../api/record.ts';
import type { NodeStatus } from '../../../api/nodeStatus.ts';
import { headLength } from '../../../api/transcript.ts';

type RecordedTranscript = NonNullable<NodeStatus['transcript']>;
export type Entry = RecordedTranscript['entries'][number];
/** The entries by position. `size`: how many the transcript has, with those that are left out. */
export type Conversation = { entries: ReadonlyMap<number, Entry>; size: number };

/** `reset`: earlier entries are void. */
export type EntryEvent = { position: number; entry: Entry; reset?: true };

const ROLES = ['System', 'User', 'Assistant', 'Tool'] as const;

/** Parses the data of an event; undefined if it is invalid. */
export function readEntryEvent({ position, entry, reset }: Record<string, unknown>): EntryEvent | undefined {
  if (!isRecord(entry) || typeof position !== 'number' || typeof entry['text'] !== 'string') return undefined;
  const role = ROLES.find((each) => each === entry['role']);
  if (role === undefined) return undefined;
  return { position, entry: { ...(entry as Entry), role }, ...(reset === true && { reset }) };
}

/** Whether the event has an answer of the model. */
export function isAnswer({ entry }: EntryEvent): boolean {
  return entry.role === 'Assistant';
}

export const NO_CONVERSATION: Conversation = { entries: new Map(), size: 0 };

/** The conversation after an event. */
export function foldEntry(
  before: Conversation | undefined,
  { position, entry, reset }: EntryEvent,
): Conversation {
  const { entries, size } = reset || before === undefined ? NO_CONVERSATION : before;
  return { entries: new Map(entries).set(position, entry), size: Math.max(size, position + 1) };
}

/** The conversation of a record. */
export function conversationOf({ entries, omitted = 0 }: RecordedTranscript): Conversation {
  const head = omitted > 0 ? headLength({ entries }) : entries.length;
  const placed = entries.map((entry, index) => [index < head ? index : index + omitted, entry] as const);
  return { entries: new Map(placed), size: entries.length + omitted };
}

/**
 * A message or an answer with the tool calls that it asks for. `omitted`: entries left out before it. The
 * last message may have only these.
 */
export type Message = {
  position: number;
  omitted: number;
  /** Left out where only the calls are known. */
  entry?: Entry;
  calls: { position: number; entry: Entry }[];
};

/** The messages in their order. */
export function messagesOf({ entries, size }: Conversation): Message[] {
  const messages: Message[] = [];
  let next = 0;
  for (const [position, entry] of [...entries].toSorted(([a], [b]) => a - b)) {
    const omitted = position - next;
    next = position + 1;
    const last = messages.at(-1);
    if (entry.role !== 'Tool') messages.push({ position, omitted, entry, calls: [] });
    else if (last && omitted === 0) last.calls.push({ position, entry });
    else messages.push({ position, omitted, calls: [{ position, entry }] });
  }
  return size > next ? [...messages, { position: size, omitted: size - next, calls: [] }] : messages;
}

type Counts = { answers: number; toolCalls: number; inputTokens: number; outputTokens: number };

/** How far the agent is. */
export function countsOf(conversation: Conversation): Counts {
  const entries = [...conversation.entries.values()];
  const sum = (key: 'inputTokens' | 'outputTokens') =>
    entries.reduce((all, { usage }) => all + (usage?.[key] ?? 0), 0);
  return {
    answers: entries.filter(({ role }) => role === 'Assistant').length,
    toolCalls: entries.filter(({ role }) => role === 'Tool').length,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
  };
}

/** `failed`: the call was wrong, or its tool failed. */
export type CallState = 'waiting' | 'running' | 'failed' | 'done';

export function stateOf({ startTime, completionTime, error }: Entry): CallState {
  if (completionTime !== undefined) return error ? 'failed' : 'done';
  return startTime === undefined ? 'waiting' : 'running';
}
