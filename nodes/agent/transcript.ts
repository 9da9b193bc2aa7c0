/** The transcript of an agent, as live events and the record show it. Pure. */
import type { TranscriptEntry } from '../../api/transcript.ts';
import type { ModelMessage, ModelToolCall } from '../contract/model.ts';
import type { Round, StoredAnswer } from './rounds.ts';

/** Characters of the name of a tool in a transcript: a model may make one up. */
const LONGEST_NAME = 256;

type FinalAnswer = Pick<StoredAnswer, 'text' | 'startedAt' | 'endedAt' | 'usage'>;

/**
 * The transcript as the record shows it. `final`: the answer without tool calls, if there is one.
 * `memoryTurns`: how many turns of the memory are sent before the prompt.
 */
export function transcriptOf(
  first: readonly ModelMessage[],
  rounds: readonly Round[],
  { final, memoryTurns = 0 }: { final?: FinalAnswer; memoryTurns?: number } = {},
): TranscriptEntry[] {
  return [
    ...first.map((message): TranscriptEntry => {
      const text = message.text + noteOfImages(message);
      if (message.role === 'system') return { role: 'System', text };
      return { role: 'User', text, ...(memoryTurns > 0 && { memoryTurns }) };
    }),
    ...rounds.flatMap((round) => [
      entryOfAnswer(round.answer),
      ...round.answer.toolCalls.map((call, index) => entryOfCall(call, round, index)),
    ]),
    ...(final ? [entryOfAnswer(final)] : []),
  ];
}

/** Images are not part of a transcript. */
function noteOfImages(message: ModelMessage): string {
  const count = (message.role === 'user' ? message.images : undefined)?.length ?? 0;
  return count === 0 ? '' : `\n[${count} ${count === 1 ? 'image' : 'images'}]`;
}

function entryOfAnswer({ text, startedAt, endedAt, usage }: FinalAnswer): TranscriptEntry {
  const shown = usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
  return { role: 'Assistant', text, startedAt, endedAt, ...(shown && { usage: shown }) };
}

function entryOfCall(
  call: ModelToolCall,
  { results, children, begun }: Round,
  index: number,
): TranscriptEntry {
  const result = results[index];
  const child = children.get(index);
  const startedAt = result?.startedAt ?? begun.get(index);
  return {
    role: 'Tool',
    tool: call.name.slice(0, LONGEST_NAME).toWellFormed(),
    ...(child !== undefined && { run: child }),
    arguments: call.arguments,
    text: result?.text ?? '',
    ...(result?.isError && { isError: true }),
    ...(startedAt !== undefined && { startedAt }),
    ...(result && { endedAt: result.endedAt }),
  };
}
