/** The tool calls in the output of an agent. Pure. */
import type { ModelToolCall } from '../contract/model.ts';
import type { Round } from './rounds.ts';

/** Bytes of the arguments of all calls. */
const ARGUMENTS_SHOWN_BYTES = 64 * 1024;

type ShownCall = { name: string; arguments: string | null; error: boolean };

/**
 * The tool calls for the output of an agent. `refused`: those of a step without tools. Where all arguments
 * are too large, they are left out.
 */
export function shownCalls(rounds: readonly Round[], refused: readonly ModelToolCall[] = []): ShownCall[] {
  const executed = rounds.flatMap(({ answer, results }) =>
    answer.toolCalls.map((call, index) => shownCall(call, results[index]?.isError === true)),
  );
  const all = [...refused.map((call) => shownCall(call, true)), ...executed];
  const bytes = all.reduce((sum, call) => sum + Buffer.byteLength(call.arguments), 0);
  return bytes <= ARGUMENTS_SHOWN_BYTES ? all : all.map((call) => ({ ...call, arguments: null }));
}

function shownCall(call: ModelToolCall, error: boolean) {
  return { name: call.name, arguments: call.arguments, error };
}
