/**
 * What an agent remembers: which turns of earlier runs fit into its window, and the turn that it adds. Pure.
 * Turns are whole: a tool call never comes without its result.
 */
import { MEMORY_KEY_LIMIT_BYTES, type MemoryTurn } from '../../api/memory.ts';
import { ExactNumber } from '../../api/exact/exactNumber.ts';
import { toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import type { AgentMemoryFields } from '../../api/step.ts';
import type { ModelMessage, ModelTool } from '../contract/model.ts';
import type { ModelUsage } from '../contract/modelUsage.ts';
import type { AgentMemoryEnd } from '../contract/node.ts';
import { fitMessages } from '../models/messages.ts';
import type { Round } from './rounds.ts';

const DEFAULT_TURNS = 20;
const DEFAULT_TOKENS = 16_000;
/** Of the text of most languages, so that fewer turns are taken rather than too many. */
const BYTES_PER_TOKEN = 3;
const LEAST_BYTES_PER_TOKEN = 1;
const MOST_BYTES_PER_TOKEN = 8;
/** The most bytes of a turn. */
const TURN_LIMIT_BYTES = 64 * 1024;
/** To what the texts of a turn that is too large are cut, one after the other. */
const CUTS = [4_096, 1_024, 256];
const CUT = '… [cut]';
const REASON_LENGTH = 300;

/**
 * The key of the memory, as its expression gave it.
 * @throws StepError `InvalidParameters` for a key that is empty or too long
 */
export function memoryKeyOf(value: unknown): string {
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  const key = typeof value === 'string' || isNumber ? String(value) : '';
  const problem =
    key.trim() === ''
      ? 'is empty, or neither text nor a number: the agent would not know whose memory it continues'
      : Buffer.byteLength(key) > MEMORY_KEY_LIMIT_BYTES
        ? `has ${Buffer.byteLength(key)} bytes, and at most ${MEMORY_KEY_LIMIT_BYTES} are allowed`
        : /^\.\.?$/.test(key) || !key.isWellFormed()
          ? 'is . or .., or not valid Unicode, which no URL can name'
          : undefined;
  if (problem === undefined) return key;
  throw new StepError('InvalidParameters', `agent.memory.key ${problem}`);
}

/** The stored turns that fit, the oldest first. */
export function turnsInWindow(
  stored: readonly string[],
  { turns: most = DEFAULT_TURNS, tokens = DEFAULT_TOKENS }: NonNullable<AgentMemoryFields['window']> = {},
): MemoryTurn[] {
  const turns = stored.map((text) => JSON.parse(text) as MemoryTurn);
  const bytesPerToken = turns.findLast((turn) => turn.bytesPerToken)?.bytesPerToken ?? BYTES_PER_TOKEN;
  let left = tokens;
  let from = turns.length;
  for (const [index, turn] of [...turns.entries()].toReversed()) {
    left -= bytesOf(messagesOfMemory([turn])) / bytesPerToken;
    if (left < 0 || turns.length - index > most) break;
    from = index;
  }
  return turns.slice(from);
}

/** The newer half of the turns. */
export function halfOf(turns: readonly MemoryTurn[]): MemoryTurn[] {
  return turns.slice(Math.ceil(turns.length / 2));
}

/** Ids that every provider takes: another one may have given them. */
const IDS = { unfit: /[^\w-]/g, longest: 40 };

/** The turns as messages, for a place before the prompt. */
export function messagesOfMemory(turns: readonly MemoryTurn[]): ModelMessage[] {
  const messages = turns.flatMap(({ user, steps, answer }): ModelMessage[] => [
    { role: 'user', text: user } as const,
    ...steps.flatMap(({ text, calls }): ModelMessage[] => [
      {
        role: 'assistant',
        text,
        toolCalls: calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given })),
      },
      ...calls.map(
        ({ id, result, error = false }): ModelMessage => ({
          role: 'tool',
          callId: id,
          text: result,
          isError: error,
        }),
      ),
    ]),
    { role: 'assistant', text: answer, toolCalls: [] } as const,
  ]);
  return fitMessages(messages, IDS);
}

/** What is known of the turn in progress. `answer`: left out, there is none. */
export type TurnSoFar = {
  prompt: unknown;
  rounds: readonly Round[];
  answer?: string;
  bytesPerToken?: number | undefined;
};

/**
 * The turn as JSON. Undefined for a failed agent that has called no tool: the next run knows nothing that it
 * must.
 */
export function storedTurn(
  { prompt, rounds, answer, bytesPerToken }: TurnSoFar,
  { run, now, failure, isRedacted }: AgentMemoryEnd,
): string | undefined {
  const hasCalled = rounds.some(
    ({ results, marked }) => marked.size > 0 || results.some((it) => it && !it.isWrong),
  );
  if (answer === undefined && !hasCalled) return undefined;
  const turn: MemoryTurn = {
    run,
    time: new Date(now).toISOString(),
    user: toText(prompt),
    steps: rounds.map(stepOf),
    answer: answer ?? failureText(failure),
    ...(answer === undefined && { failed: true as const }),
    ...(isRedacted && { redacted: true as const }),
    ...(bytesPerToken !== undefined && { bytesPerToken }),
  };
  return JSON.stringify(fitting(turn));
}

function stepOf({ answer, results }: Round): MemoryTurn['steps'][number] {
  const calls = answer.toolCalls.map((call, index) => {
    const { text = 'No result: the agent failed before the call had ended.', isError = true } =
      results[index] ?? {};
    const failed = results[index] ? results[index].isError === true : isError;
    return { ...call, result: text, ...(failed && { error: true as const }) };
  });
  return { text: answer.text, calls };
}

function failureText(
  { reason, message }: AgentMemoryEnd['failure'] = { reason: 'Cancelled', message: '' },
): string {
  const why = message === '' ? reason : `${reason}: ${message.slice(0, REASON_LENGTH).toWellFormed()}`;
  return `[This turn failed after these tool calls, before an answer. ${why}]`;
}

/** The turn with its texts cut, and at last without its calls, until it fits. */
function fitting(turn: MemoryTurn): MemoryTurn {
  const cuts = CUTS.map((length) => cutTexts(turn, length));
  const steps = `[${turn.steps.length} answers with tool calls are left out]`;
  const last = {
    ...cutTexts(turn, CUTS[0] ?? 0),
    steps: [],
    answer: `${steps}\n${cutText(turn.answer, CUTS[0] ?? 0)}`,
  };
  return [turn, ...cuts].find((it) => Buffer.byteLength(JSON.stringify(it)) <= TURN_LIMIT_BYTES) ?? last;
}

function cutTexts(turn: MemoryTurn, length: number): MemoryTurn {
  const steps = turn.steps.map(({ text, calls }) => ({
    text: cutText(text, length),
    calls: calls.map((call) => ({
      ...call,
      // Half of an argument is not JSON.
      arguments: call.arguments.length > length ? '{}' : call.arguments,
      result: cutText(call.result, length),
    })),
  }));
  const long = Math.max(length, 4_096);
  return { ...turn, user: cutText(turn.user, long), answer: cutText(turn.answer, long), steps };
}

function cutText(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed() + CUT;
}

/** Bytes of the request for each token that the provider counted; undefined where it counted none. */
export function bytesPerTokenOf(
  messages: readonly ModelMessage[],
  tools: readonly ModelTool[],
  usage: ModelUsage | null,
): number | undefined {
  if (!usage || usage.inputTokens <= 0) return undefined;
  const bytes = bytesOf(messages) + (tools.length > 0 ? Buffer.byteLength(JSON.stringify(tools)) : 0);
  const measured = Math.round((bytes / usage.inputTokens) * 100) / 100;
  return Math.min(Math.max(measured, LEAST_BYTES_PER_TOKEN), MOST_BYTES_PER_TOKEN);
}

function bytesOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? message.toolCalls : [];
    const ofCalls = calls.reduce((all, call) => all + Buffer.byteLength(call.name + call.arguments), 0);
    return sum + Buffer.byteLength(message.text) + ofCalls;
  }, 0);
}
