/** The transcript of an agent, as the run store and the record of the run hold it. */

/** A message, an answer of the model, or a tool call with its result. */
export type TranscriptEntry = {
  role: 'System' | 'User' | 'Assistant' | 'Tool';
  /** The message or answer; of a tool call its result. */
  text: string;
  /** Of a tool call: the name of the tool, its arguments as JSON, and the child run of a workflow. */
  tool?: string;
  arguments?: string;
  run?: string;
  /** Of a tool call: the text says why it failed. */
  isError?: true;
  /** Of the prompt: how many turns of the memory the model was sent before it. */
  memoryTurns?: number;
  /** Milliseconds since 1970. */
  startedAt?: number;
  endedAt?: number;
  usage?: { inputTokens: number; outputTokens: number };
};

/** `omitted`: how many entries are left out of the middle. */
export type Transcript = { entries: readonly TranscriptEntry[]; omitted: number };

/** Characters of a text, and of the arguments of a call, in a transcript that is cut. */
const LONGEST_TEXT = 4_096;
const MOST_ENTRIES = 400;
const CUT = '… [cut]';
const utf8 = new TextEncoder();

/**
 * The transcript in so many bytes of JSON: first with its texts shortened, then without whole entries of its
 * middle.
 */
export function cutTranscript(
  entries: readonly TranscriptEntry[],
  limitBytes: number,
  bytesOf: (entry: TranscriptEntry) => number = jsonBytes,
): Transcript {
  const total = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
  if (total <= limitBytes && entries.length <= MOST_ENTRIES) return { entries, omitted: 0 };
  const short = entries.map(shortenEntry);
  const sizes = short.map(bytesOf);
  let [head, tail, left] = [0, short.length, limitBytes];
  for (let isHead = true; head < tail && head + short.length - tail < MOST_ENTRIES; isHead = !isHead) {
    const size = sizes[isHead ? head : tail - 1] ?? 0;
    if (size > left) break;
    left -= size;
    if (isHead) head += 1;
    else tail -= 1;
  }
  return { entries: [...short.slice(0, head), ...short.slice(tail)], omitted: tail - head };
}

/** How many entries of a cut transcript precede the omitted ones. */
export function headLength({ entries }: { entries: readonly unknown[] }): number {
  return Math.ceil(entries.length / 2);
}

/** How far an agent is: the answers of its model, the tool calls, and the tokens that were counted. */
export type AgentProgress = {
  agent: { answers: number; toolCalls: number };
  usage?: { inputTokens: number; outputTokens: number };
};

/** How far the agent of this transcript is. */
export function progressOfTranscript(entries: readonly TranscriptEntry[]): AgentProgress {
  const count = (role: TranscriptEntry['role']) => entries.filter((entry) => entry.role === role).length;
  const agent = { answers: count('Assistant'), toolCalls: count('Tool') };
  const usages = entries.flatMap(({ usage }) => usage ?? []);
  if (usages.length === 0) return { agent };
  const sum = (key: 'inputTokens' | 'outputTokens') => usages.reduce((all, usage) => all + usage[key], 0);
  return { agent, usage: { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') } };
}

function jsonBytes(entry: TranscriptEntry): number {
  return utf8.encode(JSON.stringify(entry)).length + 1;
}

/** The entry with its texts cut to 4,096 characters. */
export function shortenEntry({ text, arguments: given, ...entry }: TranscriptEntry): TranscriptEntry {
  return { ...entry, text: cut(text), ...(given !== undefined && { arguments: cut(given) }) };
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT).toWellFormed() + CUT : text;
}
