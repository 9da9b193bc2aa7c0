/**
 * Assembles the answer of a model from the chunks of a stream (OpenAI API reference, "Chat completion
 * chunk").
 */
import * as z from 'zod';
import { OUTPUT_LIMIT } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';

const tokens = z.number().min(0);

/** What is read of a chunk; providers add members of their own, and leave out what they do not know. */
const chunkSchema = z.object({
  model: z.string().optional(),
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: tokens.default(0),
      completion_tokens: tokens.default(0),
      total_tokens: tokens.optional(),
    })
    .nullish(),
});

type Usage = { prompt_tokens: number; completion_tokens: number; total_tokens: number };

export type Answer = { text: string; model: string; finishReason: string; usage: Usage | null };

/** An answer that grows. `finishReason` is missing until the model said that it is done. */
export type Draft = {
  chunks: number;
  text: string;
  refusal: string;
  model?: string;
  finishReason?: string;
  usage?: Usage;
};

export function emptyDraft(): Draft {
  return { chunks: 0, text: '', refusal: '' };
}

/**
 * Adds a chunk to the draft and gives the text that it brought.
 * @throws StepError `InvalidAnswer` for what is no chunk, `OutputTooLarge` when the text outgrows what a node
 * may produce
 */
export function addChunk(draft: Draft, chunk: unknown): string {
  const parsed = chunkSchema.safeParse(chunk);
  if (!parsed.success) throw new StepError('InvalidAnswer', 'the model sent an invalid chunk');
  const { model, choices, usage } = parsed.data;
  draft.chunks += 1;
  if (model) draft.model = model;
  if (usage)
    draft.usage = {
      ...usage,
      total_tokens: usage.total_tokens ?? usage.prompt_tokens + usage.completion_tokens,
    };
  const choice = choices?.[0];
  if (choice?.finish_reason) draft.finishReason = choice.finish_reason;
  draft.refusal += choice?.delta?.refusal ?? '';
  const text = choice?.delta?.content ?? '';
  draft.text += text;
  if (draft.text.length > OUTPUT_LIMIT) {
    throw new StepError(
      'OutputTooLarge',
      `the answer has more than ${OUTPUT_LIMIT} characters: set maxTokens`,
    );
  }
  return text;
}

/**
 * The finished answer.
 * @throws StepError `InvalidAnswer` when there was no chunk at all, `Unreachable` when the stream ended
 * before the model was done, `Refused` when the model declined
 */
export function finished(draft: Draft, model: string): Answer {
  if (draft.chunks === 0) {
    throw new StepError(
      'InvalidAnswer',
      'the answer is not a stream of chat chunks: check baseURL in the credential',
    );
  }
  if (draft.finishReason === undefined) {
    throw new StepError('Unreachable', 'the answer ended before the model was done');
  }
  if (draft.text === '' && draft.refusal !== '') {
    throw new StepError('Refused', `the model declined: ${draft.refusal.slice(0, 300)}`);
  }
  return {
    text: draft.text,
    model: draft.model ?? model,
    finishReason: draft.finishReason,
    usage: draft.usage ?? null,
  };
}
