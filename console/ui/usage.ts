/** What models used, as people read it. */
import { count } from './format.ts';

type Used = {
  tokens: number;
  estimatedTokens?: number | undefined;
  cost?: string | undefined;
  currency?: string | undefined;
};

/** Such as `1,200 tokens, 0.0042 USD`. */
export function usageText({ tokens, estimatedTokens = 0, cost, currency = '' }: Used): string {
  const estimated = estimatedTokens > 0 ? ` (${estimatedTokens.toLocaleString('en')} estimated)` : '';
  const price = cost === undefined ? '' : `, ${costText(cost)} ${currency}`;
  return `${tokens.toLocaleString('en')} tokens${estimated}${price}`;
}

/** Digits after the first one that is not zero, or after the point. */
const DIGITS = 2;

/** The cost, shortened: to cents, or to two significant digits where it is less. */
export function costText(cost: string): string {
  const [whole = '0', fraction = ''] = cost.split('.');
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  return `${Number(whole).toLocaleString('en')}.${fraction.padEnd(DIGITS, '0').slice(0, zeros + DIGITS)}`;
}

/** Tokens of workflows whose models have no price: a cost does not cover them. */
export function unpricedTokens(usages: readonly Used[]): number {
  return usages.filter(({ cost }) => cost === undefined).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** What is said below the cost of a day, or below its tokens where nothing has a price. */
export function usageNote({ tokens, cost }: Used, unpriced: number): string {
  if (cost === undefined) return 'No prices are set.';
  const rest =
    unpriced === 0 ? '' : ` The cost leaves out ${count(unpriced, 'token')} of models without a price.`;
  return `${count(tokens, 'token')}.${rest}`;
}
