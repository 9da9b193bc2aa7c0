/** Reads the chunks of a streamed answer (OpenAI API reference, "Chat completion chunk"). */
import * as z from 'zod';
import { StepError } from '../../../api/reasons.ts';
import { parseJson } from '../../../api/json.ts';
import type { ModelToolCall } from '../../contract/model.ts';
import type { ModelUsage } from '../../contract/modelUsage.ts';
import { addArguments, addCall, addText, countRaw, type Draft } from '../../models/draft.ts';
import type { OpenaiRaw } from './raw.ts';

const tokens = z.number().min(0).nullish();

const callDelta = z.object({
  index: z.int().min(0).nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
  extra_content: z.unknown().optional(),
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
            reasoning_content: z.string().nullish(),
            tool_calls: z.array(callDelta).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: tokens,
      completion_tokens: tokens,
      prompt_tokens_details: z.object({ cached_tokens: tokens }).nullish(),
    })
    .nullish()
    // An answer is not wrong because its tokens are.
    .catch(null),
});

type Delta = NonNullable<NonNullable<z.infer<typeof chunkSchema>['choices']>[number]['delta']>;

type Reading = { draft: Draft; byIndex: Map<number, ModelToolCall>; raw: OpenaiRaw };

/** Reads the chunks of one answer. */
export function chunkReader(): (draft: Draft, chunk: unknown) => string {
  const byIndex: Reading['byIndex'] = new Map();
  const raw: OpenaiRaw = {};
  return (draft, chunk) => {
    const parsed = chunkSchema.safeParse(chunk);
    if (!parsed.success) throw new StepError('InvalidAnswer', 'the model sent an invalid chunk');
    const { model, choices, usage } = parsed.data;
    draft.chunks += 1;
    if (model) draft.model = model;
    const counted = usage && usageOf(usage);
    if (counted) draft.usage = counted;
    const { delta, finish_reason: finishReason } = choices?.[0] ?? {};
    if (finishReason) finish(draft, finishReason);
    return delta ? addDelta({ draft, byIndex, raw }, delta) : '';
  };
}

/** Undefined where the server counted nothing, which is not the same as no tokens. */
function usageOf({
  prompt_tokens: input,
  completion_tokens: output,
  prompt_tokens_details: details,
}: NonNullable<z.infer<typeof chunkSchema>['usage']>): ModelUsage | undefined {
  if (typeof input !== 'number' && typeof output !== 'number') return undefined;
  const cached = details?.cached_tokens;
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    ...(cached && { cachedInputTokens: cached }),
  };
}

function addDelta(reading: Reading, { content, refusal, reasoning_content, tool_calls }: Delta): string {
  const { draft, raw } = reading;
  for (const call of tool_calls ?? []) addCallDelta(reading, call);
  if (reasoning_content) {
    countRaw(draft, reasoning_content);
    raw.reasoning = (raw.reasoning ?? '') + reasoning_content;
  }
  if (Object.keys(raw).length > 0) draft.raw = { openai: raw };
  draft.refusal += refusal ?? '';
  addText(draft, content ?? '');
  return content ?? '';
}

function finish(draft: Draft, reason: string): void {
  draft.finishReason = reason;
  draft.isCut = reason === 'length';
  if (reason === 'content_filter') draft.refusal ||= 'the filter of the provider withheld the answer';
}

/** Servers that send each call whole leave out the index, or give all calls the same. */
function addCallDelta({ draft, byIndex, raw }: Reading, delta: CallDelta): void {
  const { id, extra_content: extra } = delta;
  const { name, arguments: text } = delta.function ?? {};
  const index = delta.index ?? (id || name ? byIndex.size : byIndex.size - 1);
  const begun = byIndex.get(index);
  const isNew = !begun || beginsAnother(begun, { id, name });
  const call = isNew ? addCall(draft, id ?? '', name ?? '') : begun;
  call.name ||= name ?? '';
  byIndex.set(index, call);
  addArguments(draft, call, text ?? '');
  if (extra === undefined || extra === null) return;
  const kept = JSON.stringify(extra);
  countRaw(draft, kept);
  // It goes back to the server, and is stored with the answer.
  if (!parseJson(kept).ok) throw new StepError('InvalidAnswer', 'the model sent an invalid chunk');
  raw.extraContent = { ...raw.extraContent, [draft.toolCalls.indexOf(call)]: extra };
}

type Begin = { id: string | null | undefined; name: string | null | undefined };

function beginsAnother(call: ModelToolCall, { id, name }: Begin): boolean {
  if (id) return id !== call.id;
  return Boolean(name) && call.arguments !== '' && parseJson(call.arguments).ok;
}
