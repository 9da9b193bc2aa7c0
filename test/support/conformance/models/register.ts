/** The drivers of the conformance suite of model providers: one for each wire format. */
import type { CredentialSpec } from '../../../../api/credential.ts';
import { anthropicWire } from '../../providers/anthropic/wire.ts';
import type { Wire } from '../../providers/model/scriptedServer.ts';
import { geminiWire } from '../../providers/openai/geminiWire.ts';
import { openaiWire } from '../../providers/openai/wire.ts';

const apiKeyRef = { name: 'llm', key: 'apiKey' };

/** A request as it came, in common terms. */
type Asked = {
  system: string;
  results: { id: string; text: string }[];
  tools: { name: string; schema: unknown }[];
  maxTokens: unknown;
  temperature: unknown;
  stop: unknown;
  effort: unknown;
  schema: unknown;
};

export type ModelDriver = {
  title: string;
  wire: Wire;
  spec: (url: string) => CredentialSpec;
  read: (body: Record<string, unknown>) => Asked;
  /** How the server says that it does not take schemas. */
  refusesSchemas: string;
  /** Whether the signature of thinking comes back in the next request, and where. */
  signatureIn?: (body: Record<string, unknown>) => unknown;
  /** Whether signs of life come in a form that the provider documents. */
  pings: boolean;
};

type ChatBody = {
  messages: {
    role: string;
    content: string;
    tool_call_id?: string;
    tool_calls?: { extra_content?: { google: { thought_signature: string } } }[];
  }[];
  tools?: { function: { name: string; parameters: unknown } }[];
  max_tokens?: number;
  temperature?: number;
  stop?: string[];
  reasoning_effort?: string;
  response_format?: { json_schema: { schema: unknown } };
};

function readChat(given: Record<string, unknown>): Asked {
  const body = given as ChatBody;
  const { messages, tools = [] } = body;
  return {
    system: messages
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content)
      .join('\n'),
    results: messages
      .filter(({ role }) => role === 'tool')
      .map(({ content, tool_call_id: id = '' }) => ({ id, text: content })),
    tools: tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })),
    maxTokens: body.max_tokens,
    temperature: body.temperature,
    stop: body.stop,
    effort: body.reasoning_effort,
    schema: body.response_format?.json_schema.schema,
  };
}

type Block = { type: string; tool_use_id?: string; content?: string; signature?: string };
type MessagesBody = {
  system?: string;
  messages: { role: string; content: Block[] }[];
  tools?: { name: string; input_schema: unknown }[];
  max_tokens: number;
  temperature?: number;
  stop_sequences?: string[];
  output_config?: { effort?: string; format?: { schema: unknown } };
};

function readMessages(given: Record<string, unknown>): Asked {
  const body = given as MessagesBody;
  const blocks = body.messages.flatMap(({ content }) => content);
  return {
    system: body.system ?? '',
    results: blocks
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id: id = '', content = '' }) => ({ id, text: content })),
    tools: (body.tools ?? []).map(({ name, input_schema: schema }) => ({ name, schema })),
    maxTokens: body.max_tokens,
    temperature: body.temperature,
    stop: body.stop_sequences,
    effort: body.output_config?.effort,
    schema: body.output_config?.format?.schema,
  };
}

export const MODEL_DRIVERS: readonly ModelDriver[] = [
  {
    title: 'openai',
    wire: openaiWire,
    spec: (url) => ({ openai: { baseURL: `${url}/v1`, apiKeyRef } }),
    read: readChat,
    refusesSchemas: "Unsupported value: 'response_format' json_schema.",
    pings: false,
  },
  {
    title: 'openai (Gemini)',
    wire: geminiWire,
    spec: (url) => ({ openai: { baseURL: `${url}/v1beta/openai`, apiKeyRef } }),
    read: readChat,
    refusesSchemas: 'Invalid value at response_format.json_schema',
    signatureIn: (body) =>
      (body as ChatBody).messages.find((each) => each.tool_calls)?.tool_calls?.[0]?.extra_content?.google
        .thought_signature,
    pings: false,
  },
  {
    title: 'anthropic',
    wire: anthropicWire,
    spec: (url) => ({ anthropic: { baseURL: url, apiKeyRef } }),
    read: readMessages,
    refusesSchemas: 'output_config.format: Extra inputs are not permitted',
    signatureIn: (body) =>
      (body as MessagesBody).messages
        .flatMap(({ content }) => content)
        .find(({ type }) => type === 'thinking')?.signature,
    pings: true,
  },
];
