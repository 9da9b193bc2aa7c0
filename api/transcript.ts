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
  const short = entries.map(shortened);
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

function jsonBytes(entry: TranscriptEntry): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}

function shortened({ text, arguments: given, ...entry }: TranscriptEntry): TranscriptEntry {
  return { ...entry, text: cut(text), ...(given !== undefined && { arguments: cut(given) }) };
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT).toWellFormed() + CUT : text;
}
