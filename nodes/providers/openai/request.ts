/** Requests to a model, and how they are adapted to servers that support only a part of the chat API. */
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ModelImage, ModelMessage, ModelRequest } from '../../contract/model.ts';
import { fitMessages, LONGEST_ID } from '../../models/messages.ts';
import { schemaInWords, withoutKeywords } from '../../models/schema.ts';
import { rawMembers } from './raw.ts';
import { argumentsOf } from '../../models/arguments.ts';

/** Servers give ids of many forms, and expect them back. */
const IDS = { unfit: /[\p{C}\s]/gu, longest: LONGEST_ID };
const EFFORTS = { Low: 'low', Medium: 'medium', High: 'high' } as const;

/** The request that states all that the step asks for. */
export function requestOf(request: ModelRequest): ChatCompletionCreateParamsStreaming {
  const { model, messages, tools, outputSchema, temperature, maxTokens, reasoningEffort, stop } = request;
  return {
    stream_options: { include_usage: true },
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(reasoningEffort && { reasoning_effort: EFFORTS[reasoningEffort] }),
    ...(stop && stop.length > 0 && { stop: [...stop] }),
    ...request.options,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function' as const,
        function: { name, description, parameters: inputSchema },
      })),
    }),
    ...(outputSchema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: outputSchema } },
    }),
    model,
    messages: fitMessages(messages, IDS).map(messageOf),
    stream: true,
  };
}

function messageOf(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: contentOf(message.text, message.images ?? []) };
    case 'assistant':
      return assistantOf(message);
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
  }
}

function contentOf(text: string, images: readonly ModelImage[]): string | ChatCompletionContentPart[] {
  if (images.length === 0) return text;
  return [
    { type: 'text', text },
    ...images.map(({ mediaType, data }) => ({
      type: 'image_url' as const,
      image_url: { url: `data:${mediaType};base64,${data}` },
    })),
  ];
}

function assistantOf({
  text,
  toolCalls,
  raw,
}: Extract<ModelMessage, { role: 'assistant' }>): ChatCompletionMessageParam {
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  const { extraContent = {}, reasoning } = rawMembers(raw) ?? {};
  return {
    ...(reasoning !== undefined && { reasoning_content: reasoning.toWellFormed() }),
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: toolCalls.map((call, index) => ({
      ...(extraContent[index] !== undefined && { extra_content: extraContent[index] }),
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(argumentsOf(call)) },
    })),
  };
}

/** How Gemini names a member that it does not know. */
const UNKNOWN_NAME = /Unknown name \\?"([^"\\]+)/g;

/**
 * The request without what the server said that it cannot take; undefined when there is nothing to leave out.
 * Models differ in some fields: older ones know no schemas, newer ones no `max_tokens`, small servers no
 * options, and Gemini not all of JSON Schema.
 */
export function adapted(
  request: ChatCompletionCreateParamsStreaming,
  complaint: string,
): ChatCompletionCreateParamsStreaming | undefined {
  if (request.response_format?.type === 'json_schema' && /response_format|json_schema/i.test(complaint)) {
    const { response_format: format, ...rest } = request;
    const content = schemaInWords(format.json_schema.schema);
    return { ...rest, messages: [{ role: 'system', content }, ...request.messages] };
  }
  if (typeof request.max_tokens === 'number' && complaint.includes('max_completion_tokens')) {
    const { max_tokens: limit, ...rest } = request;
    return { ...rest, max_completion_tokens: limit };
  }
  const unknown = [...complaint.matchAll(UNKNOWN_NAME)].flatMap(([, name]) => name ?? []);
  const simpler = unknown.length > 0 ? withSimplerSchemas(request, unknown) : undefined;
  if (simpler) return simpler;
  if (request.stream_options && /stream_options|include_usage/.test(complaint)) {
    const { stream_options: _, ...rest } = request;
    return rest;
  }
  return undefined;
}

/** Leaves keywords out of the schemas of tools and answer; undefined where the schemas have none of them. */
function withSimplerSchemas(
  request: ChatCompletionCreateParamsStreaming,
  keywords: readonly string[],
): ChatCompletionCreateParamsStreaming | undefined {
  const { tools, response_format: format, ...rest } = request;
  const schemas = { ...(tools && { tools }), ...(format && { response_format: format }) };
  const simpler = withoutKeywords(schemas, keywords);
  return JSON.stringify(simpler) === JSON.stringify(schemas) ? undefined : { ...rest, ...simpler };
}
