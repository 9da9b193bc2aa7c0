/** What the model of tests and the demo is asked, and what it is made to do. */

/** A request of the chat completions API, as it came. */
export type ModelRequest = {
  model: string;
  messages: { role: string; content: string | null; tool_calls?: unknown[] }[];
  tools?: { function: { name: string; parameters: unknown } }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  max_tokens?: number;
  temperature?: number;
  response_format?: { type: string; json_schema?: { schema: unknown } };
};

/** A tool call that the model makes: the arguments are any text. */
export type ToolCall = { name: string; arguments: string };

/** What the prompt makes the model do: call tools, write a text or, with neither, answer as it does. */
export type Scripted = { calls: readonly ToolCall[]; text?: string };
