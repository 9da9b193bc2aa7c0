/** Reads the events of a streamed message (Anthropic API reference, "Streaming messages"). */
import * as z from 'zod';
import { isRecord } from '../../../api/record.ts';
import { StepError } from '../../../api/reasons.ts';
import type { ModelToolCall } from '../../contract/model.ts';
import { addArguments, addCall, addText, countRaw, type Draft } from '../../models/draft.ts';
import { rawOf, type RawBlock } from './raw.ts';

const tokens = z.number().min(0).nullish();
const usageSchema = z
  .object({
    input_tokens: tokens,
    cache_creation_input_tokens: tokens,
    cache_read_input_tokens: tokens,
    output_tokens: tokens,
  })
  .nullish()
  // An answer is not wrong because its tokens are.
  .catch(null);

const index = z.int().min(0);

/** What is read of an event. The API may add types of events, blocks and deltas. */
const eventSchema = z.object({
  type: z.string(),
  index: index.optional(),
  message: z.object({ model: z.string().optional(), usage: usageSchema }).optional(),
  content_block: z
    .object({
      type: z.string(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      data: z.string().optional(),
      id: z.string().optional(),
      name: z.string().optional(),
      input: z.unknown().optional(),
    })
    .optional(),
  delta: z
    .object({
      type: z.string().optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: z.string().nullish(),
      stop_details: z.object({ explanation: z.string().nullish() }).nullish(),
    })
    .optional(),
  usage: usageSchema,
});
type Event = z.infer<typeof eventSchema>;

const CUT: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded']);

/** Blocks of the message, by their index in it. */
type Blocks = Map<number, { block: RawBlock; toolCall?: ModelToolCall; isWhole?: boolean }>;

/** Reads the events of one message. */
export function eventReader(): (draft: Draft, event: unknown) => string {
  const blocks: Blocks = new Map();
  return (draft, event) => {
    const parsed = eventSchema.safeParse(event);
    if (!parsed.success) throw new StepError('InvalidAnswer', 'the model sent an invalid event');
    const { type } = parsed.data;
    // A sign of life that says nothing of the answer.
    if (type === 'ping') return '';
    draft.chunks += 1;
    if (type === 'message_start') start(draft, parsed.data);
    else if (type === 'message_delta') finish(draft, parsed.data, blocks);
    else if (type === 'content_block_start') return begin(draft, parsed.data, blocks);
    else if (type === 'content_block_delta') return extend(draft, parsed.data, blocks);
    return '';
  };
}

function start(draft: Draft, { message }: Event): void {
  if (message?.model) draft.model = message.model;
  count(draft, message?.usage);
}

function finish(draft: Draft, { delta, usage }: Event, blocks: Blocks): void {
  count(draft, usage);
  const reason = delta?.stop_reason;
  if (!reason) return;
  draft.finishReason = reason;
  draft.isCut = CUT.has(reason);
  draft.isRefused = reason === 'refusal';
  draft.refusal = delta.stop_details?.explanation ?? '';
  draft.raw = rawOf([...blocks.values()].map(({ block }) => block));
}

/** Each report of tokens replaces those before it. What the cache saved counts as input. */
function count(draft: Draft, usage: Event['usage']): void {
  if (!usage) return;
  const { input_tokens: input, output_tokens: output } = usage;
  const { cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage;
  const before = draft.usage;
  const outputTokens = output ?? before?.outputTokens ?? 0;
  draft.usage =
    typeof input === 'number'
      ? {
          inputTokens: input + (written ?? 0) + (read ?? 0),
          outputTokens,
          ...(read && { cachedInputTokens: read }),
          ...(written && { cacheWriteTokens: written }),
        }
      : { inputTokens: 0, ...before, outputTokens };
}

function begin(draft: Draft, { index: at = 0, content_block: begun }: Event, blocks: Blocks): string {
  if (!begun) return '';
  switch (begun.type) {
    case 'text': {
      const { text = '' } = begun;
      blocks.set(at, { block: { type: 'text', text } });
      addText(draft, text);
      return text;
    }
    case 'thinking': {
      const { thinking = '', signature = '' } = begun;
      countRaw(draft, thinking + signature);
      blocks.set(at, { block: { type: 'thinking', thinking, signature } });
      return '';
    }
    case 'redacted_thinking': {
      const { data = '' } = begun;
      countRaw(draft, data);
      blocks.set(at, { block: { type: 'redacted_thinking', data } });
      return '';
    }
    case 'tool_use': {
      const toolCall = addCall(draft, begun.id ?? '', begun.name ?? '');
      const input = wholeInput(begun.input);
      addArguments(draft, toolCall, input);
      const block = { type: 'tool_use', call: draft.toolCalls.length - 1 } as const;
      blocks.set(at, { block, toolCall, isWhole: input !== '' });
      return '';
    }
    default:
      return '';
  }
}

/** The API begins with an empty object, and sends the input in pieces. Others may send it whole. */
function wholeInput(input: unknown): string {
  const isEmpty = isRecord(input) && Object.keys(input).length === 0;
  return input === undefined || input === null || isEmpty ? '' : JSON.stringify(input);
}

function extend(draft: Draft, { index: at = 0, delta }: Event, blocks: Blocks): string {
  const begun = blocks.get(at);
  if (!delta || !begun) return '';
  const { block, toolCall } = begun;
  if (toolCall && delta.partial_json) {
    if (begun.isWhole) Object.assign(toolCall, { arguments: '' });
    begun.isWhole = false;
    addArguments(draft, toolCall, delta.partial_json);
  }
  if (block.type === 'thinking') {
    const { thinking = '', signature = '' } = delta;
    countRaw(draft, thinking + signature);
    block.thinking += thinking;
    block.signature += signature;
  }
  if (block.type !== 'text') return '';
  const { text = '' } = delta;
  addText(draft, text);
  block.text += text;
  return text;
}
