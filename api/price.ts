/**
 * Prices of models: the table that an installation has, and what requests cost by it. Pure, with integers
 * alone: a price is nano-units per million tokens, a cost is nano-units, rounded up.
 */
import * as z from 'zod';
import { AMOUNT_PATTERN, parseAmount } from './money.ts';

const amount = z.string().regex(AMOUNT_PATTERN, 'must be a decimal text such as "0.25", at most 1000000');

/** One line of the table, as the chart has it. Rates are the price of a million tokens. */
const modelPrice = z.strictObject({
  /** The kind of the credential. Left out: of every kind. */
  provider: z.string().min(1).max(64).optional(),
  /** The model as workflows name it. */
  model: z.string().min(1).max(256),
  input: amount,
  output: amount,
  /** Of input that the provider had in its cache. Left out: that of input. */
  cachedInput: amount.optional(),
  /** Of input that the provider wrote to its cache. Left out: that of input. */
  cacheWrite: amount.optional(),
  /** Where the price was read, and when. */
  source: z.string().min(1).max(2048),
  date: z.iso.date(),
});

/** The prices of an installation. */
export const priceTable = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code such as USD')
    .default('USD'),
  models: z.array(modelPrice).max(1_000).default([]),
});

export type PriceTable = z.infer<typeof priceTable>;

/** A table without prices. */
export const NO_PRICES: PriceTable = { currency: 'USD', models: [] };

/** Nano-units for a million tokens of each kind. */
export type Rates = { input: number; cachedInput: number; cacheWrite: number; output: number };

/** Tokens of a request. `inputTokens` includes those that were read from or written to a cache. */
export type PricedTokens = {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
};

/**
 * The rates of a model; undefined if the table does not have it. A line for the kind of the credential wins
 * over one for every kind.
 */
export function ratesOf({ models }: PriceTable, provider: string, model: string): Rates | undefined {
  const lines = models.filter((line) => line.model === model);
  const line =
    lines.find((each) => each.provider === provider) ?? lines.find((each) => each.provider === undefined);
  if (!line) return undefined;
  const input = nanoOf(line.input);
  return {
    input,
    output: nanoOf(line.output),
    cachedInput: line.cachedInput === undefined ? input : nanoOf(line.cachedInput),
    cacheWrite: line.cacheWrite === undefined ? input : nanoOf(line.cacheWrite),
  };
}

/** Whether the table has a price of the model, for a credential of any kind. */
export function hasPrice({ models }: PriceTable, model: string): boolean {
  return models.some((line) => line.model === model);
}

/** What the tokens cost. */
export function costOf(rates: Rates, tokens: PricedTokens): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = tokens;
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  return rounded(
    BigInt(plain) * BigInt(rates.input) +
      BigInt(cachedInputTokens) * BigInt(rates.cachedInput) +
      BigInt(cacheWriteTokens) * BigInt(rates.cacheWrite) +
      BigInt(outputTokens) * BigInt(rates.output),
  );
}

/** The most that so many tokens can cost, whatever the provider finds in its cache or writes to it. */
export function highestCost(
  rates: Rates,
  { inputTokens, outputTokens }: Pick<PricedTokens, 'inputTokens' | 'outputTokens'>,
): number {
  const input = Math.max(rates.input, rates.cachedInput, rates.cacheWrite);
  return costOf({ ...rates, input }, { inputTokens, outputTokens });
}

const MILLION = 1_000_000n;

function rounded(millionths: bigint): number {
  return Number((millionths + MILLION - 1n) / MILLION);
}

function nanoOf(text: string): number {
  const nano = parseAmount(text);
  if (nano === undefined) throw new Error('a price that the schema refuses');
  return nano;
}
