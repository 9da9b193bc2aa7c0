/** Assembles the answer of a model from the chunks of a stream, within bounds. */
import { OUTPUT_LIMIT } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelToolCall } from '../contract/model.ts';
import type { ModelUsage } from '../contract/modelUsage.ts';
import { LONGEST_ID } from './messages.ts';

const MOST_CALLS = 128;
/** Characters of the model's name, of the finish reason, and of the name of a tool. */
const LONGEST_WORD = 256;
/** Of all tool calls of an answer together. */
const MOST_ARGUMENT_BYTES = 1024 * 1024;

/** An answer that grows. `finishReason` is missing until the model said that it is done. */
export type Draft = {
  chunks: number;
  text: string;
  /** Why the model declined. */
  refusal: string;
  /** Whether it declined, also where it had begun to answer. */
  isRefused: boolean;
  toolCalls: ModelToolCall[];
  argumentBytes: number;
  rawLength: number;
  isCut: boolean;
  model?: string;
  finishReason?: string;
  usage?: ModelUsage;
  raw?: unknown;
};

export function emptyDraft(): Draft {
  return {
    chunks: 0,
    text: '',
    refusal: '',
    isRefused: false,
    toolCalls: [],
    argumentBytes: 0,
    rawLength: 0,
    isCut: false,
  };
}

/**
 * Adds text to the answer.
 * @throws StepError `OutputTooLarge` when the text outgrows what a node may produce
 */
export function addText(draft: Draft, text: string): void {
  draft.text += text;
  if (draft.text.length > OUTPUT_LIMIT) {
    throw new StepError(
      'OutputTooLarge',
      `the answer has more than ${OUTPUT_LIMIT} characters: set maxTokens`,
    );
  }
}

/**
 * Begins a tool call.
 * @throws StepError `OutputTooLarge` for too many calls
 */
export function addCall(draft: Draft, id: string, name: string): ModelToolCall {
  if (draft.toolCalls.length >= MOST_CALLS)
    throw new StepError('OutputTooLarge', `the model called more than ${MOST_CALLS} tools in one answer`);
  const call = { id: id || `call_${draft.toolCalls.length}`, name, arguments: '' };
  draft.toolCalls.push(call);
  return call;
}

/**
 * Adds text to the arguments of a tool call.
 * @throws StepError `OutputTooLarge` when the arguments of all calls together outgrow their bound
 */
export function addArguments(draft: Draft, call: ModelToolCall, text: string): void {
  draft.argumentBytes += Buffer.byteLength(text);
  if (draft.argumentBytes > MOST_ARGUMENT_BYTES)
    throw new StepError(
      'OutputTooLarge',
      `the arguments of the tool calls have more than ${MOST_ARGUMENT_BYTES} bytes`,
    );
  call.arguments += text;
}

/**
 * Counts text that only the provider reads, such as thinking.
 * @throws StepError `OutputTooLarge`
 */
export function countRaw(draft: Draft, text: string): void {
  draft.rawLength += text.length;
  if (draft.rawLength > OUTPUT_LIMIT)
    throw new StepError('OutputTooLarge', `the model thought for more than ${OUTPUT_LIMIT} characters`);
}

/**
 * The finished answer.
 * @throws StepError `InvalidAnswer` when there was no chunk at all, `Unreachable` when the stream ended
 * before the model was done, `Refused` when the model declined, `InvalidAnswer` for an empty message
 */
export function finishedAnswer(draft: Draft, model: string): ModelAnswer {
  const { text, toolCalls, finishReason, isCut, raw } = draft;
  if (draft.chunks === 0) {
    throw new StepError(
      'InvalidAnswer',
      'the answer is not a stream of chat chunks: check baseURL in the credential',
    );
  }
  if (finishReason === undefined)
    throw new StepError('Unreachable', 'the answer ended before the model was done');
  const isEmpty = text === '' && toolCalls.length === 0;
  const isIncomplete = isCut || draft.refusal !== '';
  if (draft.isRefused || (isEmpty && draft.refusal !== ''))
    throw new StepError('Refused', `the model declined: ${draft.refusal.slice(0, 300) || finishReason}`);
  if (isEmpty && isCut)
    throw new StepError(
      'InvalidAnswer',
      'the model reached the limit of tokens before it wrote text: raise maxTokens',
      { retryable: false },
    );
  if (isEmpty)
    throw new StepError('InvalidAnswer', `the model sent an empty message (${finishReason.slice(0, 100)})`);
  return {
    text: text.toWellFormed(),
    toolCalls: toolCalls.map((call, index) => finishedCall(call, index, isIncomplete)),
    model: bounded(draft.model ?? model),
    finishReason: bounded(finishReason),
    isCut,
    usage: draft.usage ? wholeUsage(draft.usage) : null,
    ...(raw !== undefined && { raw }),
  };
}

/** A word of the server, for outputs and transcripts. */
function bounded(word: string): string {
  return word.slice(0, LONGEST_WORD).toWellFormed();
}

/** A call without arguments is whole, unless the answer was cut or withheld: then they did not come. */
function finishedCall(
  { id, name, arguments: given }: ModelToolCall,
  index: number,
  isIncomplete: boolean,
): ModelToolCall {
  return {
    id: id.length > LONGEST_ID ? `call_${index}` : id,
    name: bounded(name),
    arguments: given || (isIncomplete ? '' : '{}'),
  };
}

/** More than any model takes: a larger number is a mistake of the server. */
const MOST_TOKENS = 1_000_000_000;

/** Servers may send fractions, or numbers beyond all bounds. */
function wholeUsage(usage: ModelUsage): ModelUsage {
  const whole = (tokens: number): number => Math.min(Math.ceil(tokens), MOST_TOKENS);
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return {
    inputTokens: whole(inputTokens),
    outputTokens: whole(outputTokens),
    ...(cachedInputTokens !== undefined && { cachedInputTokens: whole(cachedInputTokens) }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens: whole(cacheWriteTokens) }),
  };
}
