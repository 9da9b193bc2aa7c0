/** Requests to the Messages API, and how they are adapted to models that support only a part of it. */
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  OutputConfig,
  Tool,
} from '@anthropic-ai/sdk/resources/messages';
import type { ModelImage, ModelMessage, ModelRequest, ReasoningEffort } from '../../contract/model.ts';
import { argumentsOf } from '../../models/arguments.ts';
import { fitMessages, LONGEST_ID } from '../../models/messages.ts';
import { schemaInWords } from '../../models/schema.ts';
import { rawBlocks } from './raw.ts';

/** The API requires a limit. Thinking counts towards it. */
const MAX_TOKENS = 4_096;
const MAX_TOKENS_WITH_THINKING = 16_384;

const EFFORTS = { Low: 'low', Medium: 'medium', High: 'high' } as const;
/** The API refuses ids of other providers with other characters. */
const IDS = { unfit: /[^a-zA-Z0-9_-]/g, longest: LONGEST_ID };
/** For models that take a number of tokens in place of an effort. */
const BUDGETS: Record<ReasoningEffort, number> = { Low: 1_024, Medium: 4_096, High: 8_192 };

/** The request that states all that the step asks for. */
export function requestOf(request: ModelRequest): MessageCreateParamsStreaming {
  const { model, tools, outputSchema, temperature, reasoningEffort: effort, stop } = request;
  const { options = {}, maxTokens = effort ? MAX_TOKENS_WITH_THINKING : MAX_TOKENS } = request;
  const messages = fitMessages(request.messages, IDS);
  const system = messages.flatMap((message) => (message.role === 'system' ? [message.text] : []));
  const output: OutputConfig = {
    ...(options['output_config'] as OutputConfig | undefined),
    ...(effort && { effort: EFFORTS[effort] }),
    ...(outputSchema && { format: { type: 'json_schema', schema: outputSchema } }),
  };
  return {
    ...(effort && { thinking: { type: 'adaptive' } }),
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stop && stop.length > 0 && { stop_sequences: [...stop] }),
    ...options,
    ...(Object.keys(output).length > 0 && { output_config: output }),
    ...(system.length > 0 && { system: system.join('\n\n') }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema as Tool['input_schema'],
      })),
    }),
    model,
    messages: turnsOf(messages),
    stream: true,
  };
}

/** The messages without those of the system. Results of tools stand together, in one message of the user. */
function turnsOf(messages: readonly ModelMessage[]): MessageParam[] {
  const turns: { role: 'user' | 'assistant'; content: ContentBlockParam[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  return turns;
}

function blocksOf(message: Exclude<ModelMessage, { role: 'system' }>): ContentBlockParam[] {
  if (message.role === 'user') return [...textOf(message.text), ...(message.images ?? []).map(imageOf)];
  if (message.role === 'tool') {
    const { callId, text, isError } = message;
    return [
      {
        type: 'tool_result',
        tool_use_id: callId,
        ...(text !== '' && { content: text }),
        ...(isError && { is_error: true }),
      },
    ];
  }
  const calls = message.toolCalls.map((call): ContentBlockParam => {
    return { type: 'tool_use', id: call.id, name: call.name, input: argumentsOf(call) };
  });
  const raw = rawBlocks(message.raw);
  if (!raw) return [...textOf(message.text), ...calls];
  const placed = new Set(raw.map((block) => (block.type === 'tool_use' ? block.call : undefined)));
  return [
    ...raw.flatMap((block): ContentBlockParam[] => {
      if (block.type === 'tool_use') return calls.slice(block.call, block.call + 1);
      return block.type === 'text' ? textOf(block.text) : [block];
    }),
    // A server that numbers its blocks wrongly: a result without its call is refused.
    ...calls.filter((_, call) => !placed.has(call)),
  ];
}

/** The API refuses empty texts. */
function textOf(text: string): ContentBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function imageOf({ mediaType, data }: ModelImage): ImageBlockParam {
  return {
    type: 'image',
    source: { type: 'base64', media_type: mediaType as 'image/png', data },
  };
}

/**
 * The request without what the server said that it cannot take; undefined when there is nothing to leave out.
 * Older models know no schemas, no effort, and thinking only with a number of tokens; no model knows all of
 * JSON Schema.
 */
export function adapted(
  request: MessageCreateParamsStreaming,
  complaint: string,
): MessageCreateParamsStreaming | undefined {
  const { output_config: output, ...rest } = request;
  const { format, effort, ...others } = output ?? {};
  if (format && /format|schema|output_config: Extra/i.test(complaint)) {
    const words = schemaInWords(format.schema);
    return {
      ...rest,
      ...withConfig({ ...others, ...(effort && { effort }) }),
      system: typeof rest.system === 'string' ? `${rest.system}\n\n${words}` : words,
    };
  }
  if (rest.thinking?.type === 'adaptive' && /adaptive/i.test(complaint)) {
    const [name] = Object.entries(EFFORTS).find(([, word]) => word === effort) ?? ['Medium'];
    const budget = Math.min(BUDGETS[name as ReasoningEffort], rest.max_tokens - 1);
    return {
      ...rest,
      ...withConfig({ ...others, ...(format && { format }) }),
      thinking: { type: 'enabled', budget_tokens: budget },
    };
  }
  if (effort && /effort|output_config: Extra/i.test(complaint))
    return { ...rest, ...withConfig({ ...others, ...(format && { format }) }) };
  return undefined;
}

function withConfig(output: OutputConfig): { output_config?: OutputConfig } {
  return Object.keys(output).length === 0 ? {} : { output_config: output };
}
