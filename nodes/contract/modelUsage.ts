/**
 * Tokens that the provider counted. `inputTokens` includes those that it read from its cache or wrote to it.
 * `cost`: what they cost, in nano-units, where the price is known.
 */
export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  cost?: { nano: number; currency: string };
};
