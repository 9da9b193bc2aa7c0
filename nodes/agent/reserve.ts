/** What a request to a model may use at most, as its budget reserves it. Pure. */
import { StepError, type FailureReason } from '../../api/reasons.ts';
import type { ModelMessage, ModelRequest } from '../contract/model.ts';
import type { ModelUsage } from '../contract/modelUsage.ts';
import { isUncharged } from '../models/failure.ts';

/** Sent to a model whose step has no `maxTokens`, where a budget applies. */
export const DEFAULT_OUTPUT_TOKENS = 4_096;
/** A token is rarely shorter. */
const BYTES_PER_TOKEN = 3;
/** Providers count an image by its size in pixels, not in bytes. */
const TOKENS_PER_IMAGE = 4_096;

/** What to do in place of members of `options` that let a request use more than was reserved for it. */
const UNBOUNDED_OPTIONS: Readonly<Record<string, string>> = {
  max_tokens: 'set maxTokens',
  max_completion_tokens: 'set maxTokens',
  models: 'set fallback, whose models have prices of their own',
};

/** What a request uses at most: its input in bytes / 3, rounded up, and its limit of output. */
export function demandOf(request: ModelRequest): { inputTokens: number; outputTokens: number } {
  const { messages, tools, outputSchema, options, maxTokens = DEFAULT_OUTPUT_TOKENS } = request;
  const text = JSON.stringify({ messages: messages.map(withoutImages), tools, outputSchema, options });
  const images = messages.reduce((sum, message) => sum + imagesOf(message), 0);
  return {
    inputTokens: Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + images * TOKENS_PER_IMAGE,
    outputTokens: maxTokens,
  };
}

function imagesOf(message: ModelMessage): number {
  return 'images' in message ? (message.images?.length ?? 0) : 0;
}

function withoutImages(message: ModelMessage): object {
  return 'images' in message ? { ...message, images: undefined } : message;
}

/**
 * The request with a limit of output, which a reservation relies on.
 * @throws StepError `InvalidParameters` where its options could exceed that limit
 */
export function limited(request: ModelRequest): ModelRequest {
  const problem = budgetOptionsProblem(request.options);
  if (problem !== undefined) throw new StepError('InvalidParameters', problem);
  return { ...request, maxTokens: request.maxTokens ?? DEFAULT_OUTPUT_TOKENS };
}

/** What the options of an agent with a budget cannot have; undefined: nothing. */
export function budgetOptionsProblem(options: Record<string, unknown> = {}): string | undefined {
  return refusedOptions(options, UNBOUNDED_OPTIONS, 'cannot be set under a budget');
}

/** The refused members of `options` with their remedies; undefined: none. `remedies`: by member. */
export function refusedOptions(
  options: Record<string, unknown>,
  remedies: Readonly<Record<string, string>>,
  why: string,
): string | undefined {
  const found = Object.keys(remedies).filter((name) => Object.hasOwn(options, name));
  if (found.length === 0) return undefined;
  const todo = new Set(found.map((name) => remedies[name]));
  return `options: ${found.join(', ')} ${why}: ${[...todo].join('; ')}`;
}

/** Of a request that was not sent. */
export const NOTHING_USED: ModelUsage = { inputTokens: 0, outputTokens: 0 };

/** Errors before a model does any work, whatever their cause. */
const WITHOUT_USE: ReadonlySet<FailureReason> = new Set([
  'AddressForbidden',
  'CredentialMissing',
  'CredentialRejected',
  'InvalidParameters',
  'RateLimited',
]);

/** What a failed request is charged: nothing, or null where that is not known. */
export function usageOfFailure(error: unknown): ModelUsage | null {
  if (!(error instanceof StepError)) return null;
  return WITHOUT_USE.has(error.reason) || isUncharged(error) ? NOTHING_USED : null;
}
