/**
 * The interface between agents and the providers of language models. A provider converts a request to its
 * wire format and the streamed answer back. It knows nothing of steps, checkpoints and budgets.
 */
import type { Egress } from '../egress/egress.ts';
import type { ModelUsage } from './modelUsage.ts';
import type { CredentialAccess, Effect } from './node.ts';

/** A tool that the model may call. `inputSchema` is a JSON Schema of an object. */
export type ModelTool = { name: string; description: string; inputSchema: Record<string, unknown> };

/**
 * A call of a tool, as the model wrote it. `id` is the provider's and connects the call with its result.
 * `arguments` is JSON text that nothing has checked.
 */
export type ModelToolCall = { id: string; name: string; arguments: string };

/** An image for a model that takes images. `data` is base64. */
export type ModelImage = { mediaType: string; data: string };

/**
 * A message of a conversation. `raw` holds blocks of the provider that a later request must repeat as they
 * came, such as signed thinking; only the provider that wrote them reads them.
 */
export type ModelMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string; images?: readonly ModelImage[] }
  | { role: 'assistant'; text: string; toolCalls: readonly ModelToolCall[]; raw?: unknown }
  | { role: 'tool'; callId: string; text: string; isError: boolean };

export type ReasoningEffort = 'Low' | 'Medium' | 'High';

/** One request. `options` are members of the provider's own request, which go through unchanged. */
export type ModelRequest = {
  model: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  outputSchema?: Record<string, unknown>;
  temperature?: number;
  maxTokens?: number;
  reasoningEffort?: ReasoningEffort;
  stop?: readonly string[];
  options?: Record<string, unknown>;
};

/**
 * A complete answer. `finishReason` is the provider's own word. `isCut` says that the provider stopped at
 * the limit of tokens.
 */
export type ModelAnswer = {
  text: string;
  toolCalls: readonly ModelToolCall[];
  model: string;
  finishReason: string;
  isCut: boolean;
  usage: ModelUsage | null;
  raw?: unknown;
};

/** How long a model may be silent, in milliseconds. The step's own timeout bounds the whole beside it. */
export type ModelPatience = { firstChunkMs: number; idleMs: number };

/** What a provider needs beside the request. `emitText` gets text as it comes, with
 * the idempotency key of the request. */
export type ModelContext = {
  credential: CredentialAccess;
  egress: Egress;
  signal: AbortSignal;
  /** With `AtMostOnce` a failure after which the model may have answered is an `EffectUnknown`. */
  effect: Effect;
  idempotencyKey: string;
  emitText: (text: string, call?: string) => void;
  patience: ModelPatience;
};

/** A provider of models. */
export type ModelProvider = {
  /**
   * Asks the model once, without a retry; a request that the server supports only in part is adapted and sent
   * again with a suffix at its idempotency key.
   * @throws StepError for every failure of the server, the connection or the answer
   */
  ask(request: ModelRequest, context: ModelContext): Promise<ModelAnswer>;
};
