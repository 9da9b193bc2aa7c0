/** What a request to a model may use at most, as its budget reserves it. Pure. */
import { StepError, type FailureReason } from '../../api/reasons.ts';
import type { ModelMessage, ModelRequest } from '../contract/model.ts';
import type { ModelUsage } from '../contract/modelUsage.ts';
import { isUncharged } from '../models/failure.ts';
import { budgetOptionsProblem } from './options.ts';

/** Sent to a model whose step has no `maxTokens`, where a budget applies. */
export const DEFAULT_OUTPUT_TOKENS = 4_096;
/** A token is rarely shorter. */
const BYTES_PER_TOKEN = 3;
/** Providers count an image by its size in pixels, not in bytes. */
const TOKENS_PER_IMAGE = 4_096;

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
