/** Reads the chunks of a streamed answer (OpenAI API reference, "Chat completion chunk"). */
import * as z from 'zod';
import { StepError } from '../../../api/reasons.ts';
import { parseJson } from '../../../api/json.ts';
import type { ModelToolCall } from '../../contract/model.ts';
import { addArguments, addCall, addText, type Draft } from '../../models/draft.ts';

const tokens = z.number().min(0).default(0);

const callDelta = z.object({
  index: z.int().min(0).nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
type CallDelta = z.infer<typeof callDelta>;

/** What is read of a chunk; providers add members of their own, and leave out what they do not know. */
const chunkSchema = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z.array(callDelta).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish(),
});

/** Reads the chunks of one answer. */
export function chunkReader(): (draft: Draft, chunk: unknown) => string {
  const callsByIndex = new Map<number, ModelToolCall>();
  return (draft, chunk) => {
    const parsed = chunkSchema.safeParse(chunk);
    if (!parsed.success) throw new StepError('InvalidAnswer', 'the model sent an invalid chunk');
    const { model, choices, usage } = parsed.data;
    if (model) draft.model = model;
    if (usage) draft.usage = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    const { delta, finish_reason: finishReason } = choices?.[0] ?? {};
    if (finishReason) {
      draft.finishReason = finishReason;
      draft.isCut = finishReason === 'length';
    }
    draft.refusal += delta?.refusal ?? '';
    for (const call of delta?.tool_calls ?? []) addCallDelta(draft, callsByIndex, call);
    const text = delta?.content ?? '';
    addText(draft, text);
    return text;
  };
}

/** Servers that send each call whole leave out the index, or give all calls the same. */
function addCallDelta(draft: Draft, byIndex: Map<number, ModelToolCall>, delta: CallDelta): void {
  const index = delta.index ?? (delta.id || delta.function?.name ? byIndex.size : byIndex.size - 1);
  const begun = byIndex.get(index);
  const isNew = !begun || beginsAnother(begun, delta);
  const call = isNew ? addCall(draft, delta.id ?? '', delta.function?.name ?? '') : begun;
  call.name ||= delta.function?.name ?? '';
  byIndex.set(index, call);
  addArguments(draft, call, delta.function?.arguments ?? '');
}

function beginsAnother(call: ModelToolCall, { id, function: called }: CallDelta): boolean {
  if (id) return id !== call.id;
  return Boolean(called?.name) && call.arguments !== '' && parseJson(call.arguments).ok;
}
