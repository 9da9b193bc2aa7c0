/** The transcript of an agent as records have it, and live events of what changed in it. */
import type { NodeStatus } from '../api/nodeStatus.ts';
import {
  cutTranscript,
  headLength,
  shortenEntry,
  type Transcript,
  type TranscriptEntry,
} from '../api/transcript.ts';
import type { EntryStatus, RunEventBody } from './types/event.ts';

type TranscriptStatus = NonNullable<NodeStatus['transcript']>;
type EntryEvent = RunEventBody & { type: 'transcript' };

/** Bytes of the transcript that a runner sends when it takes over an agent. */
const SNAPSHOT_BYTES = 32 * 1024;

export function transcriptStatus({ entries, omitted }: Transcript): TranscriptStatus {
  return { ...(omitted > 0 && { omitted }), entries: entries.map(entryStatus) };
}

function entryStatus({ startedAt, endedAt, isError, ...entry }: TranscriptEntry): EntryStatus {
  return {
    ...entry,
    ...(isError && { error: true }),
    ...(startedAt !== undefined && { startTime: new Date(startedAt).toISOString() }),
    ...(endedAt !== undefined && { completionTime: new Date(endedAt).toISOString() }),
  };
}

/**
 * The events of the entries that changed since `sent`. Without `sent` a snapshot: its first event voids all
 * earlier ones, and a long transcript is cut in its middle.
 */
export function transcriptEvents(
  node: string,
  entries: readonly TranscriptEntry[],
  sent: readonly TranscriptEntry[] | undefined,
): EntryEvent[] {
  const eventOf = (position: number, entry: TranscriptEntry): EntryEvent => ({
    type: 'transcript',
    node,
    position,
    entry: entryStatus(shortenEntry(entry)),
  });
  if (sent)
    return entries.flatMap((entry, position) =>
      isSame(entry, sent[position]) ? [] : [eventOf(position, entry)],
    );
  const cut = cutTranscript(entries, SNAPSHOT_BYTES);
  const head = headLength(cut);
  return cut.entries.map((entry, index) => ({
    ...eventOf(index < head ? index : index + cut.omitted, entry),
    ...(index === 0 && { reset: true as const }),
  }));
}

/** Member by member: the entries of an answer are made again for each report. */
function isSame(entry: TranscriptEntry, other: TranscriptEntry | undefined): boolean {
  if (other === undefined) return false;
  const names = Object.keys({ ...entry, ...other }) as (keyof TranscriptEntry)[];
  return names.every(
    (name) => entry[name] === other[name] || (name === 'usage' && hasSameUsage(entry, other)),
  );
}

function hasSameUsage({ usage }: TranscriptEntry, { usage: other }: TranscriptEntry): boolean {
  return usage?.inputTokens === other?.inputTokens && usage?.outputTokens === other?.outputTokens;
}
