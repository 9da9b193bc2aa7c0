/** Requests to a model, and how they are adapted to servers that support only a part of the chat API. */
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { toText } from '../../../api/expression/evaluate.ts';

/** The fields of an agent step with every reference replaced: prompts may be of any type. */
export type AgentFields = {
  credential: string;
  model: string;
  systemPrompt?: unknown;
  prompt: unknown;
  temperature?: number;
  maxTokens?: number;
  outputSchema?: Record<string, unknown>;
};

/** The request that states all that the step asks for. */
export function requestOf(fields: AgentFields): ChatCompletionCreateParamsStreaming {
  const { model, systemPrompt, prompt, temperature, maxTokens, outputSchema } = fields;
  return {
    model,
    messages: [
      ...(systemPrompt === undefined ? [] : [{ role: 'system' as const, content: toText(systemPrompt) }]),
      { role: 'user', content: toText(prompt) },
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(outputSchema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: outputSchema } },
    }),
  };
}

/**
 * The request without what the server said that it cannot take; undefined when there is nothing to leave out.
 * Models differ in three fields: older ones know no schemas, newer ones no `max_tokens`, small servers no
 * options.
 */
export function adapted(
  request: ChatCompletionCreateParamsStreaming,
  complaint: string,
): ChatCompletionCreateParamsStreaming | undefined {
  if (request.response_format?.type === 'json_schema' && /response_format|json_schema/i.test(complaint)) {
    const { response_format: format, ...rest } = request;
    const content = `Answer with JSON alone, which must fit this JSON Schema: ${JSON.stringify(format.json_schema.schema)}`;
    return { ...rest, messages: [{ role: 'system', content }, ...request.messages] };
  }
  if (typeof request.max_tokens === 'number' && complaint.includes('max_completion_tokens')) {
    const { max_tokens: limit, ...rest } = request;
    return { ...rest, max_completion_tokens: limit };
  }
  if (request.stream_options && /stream_options|include_usage/.test(complaint)) {
    const { stream_options: _, ...rest } = request;
    return rest;
  }
  return undefined;
}
