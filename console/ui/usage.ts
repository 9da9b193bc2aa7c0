/** What models used, as people read it. */

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

/** What workflows used on this day (UTC), such as `2026-11-25`; undefined where none asked a model. */
export function sumOfUsage(
  usages: readonly (Used & { date: string })[],
  date: string,
): (Used & { workflows: number }) | undefined {
  const today = usages.filter((usage) => usage.date === date);
  if (today.length === 0) return undefined;
  const priced = today.filter(({ cost }) => cost !== undefined);
  const nano = priced.reduce((sum, { cost = '0' }) => sum + nanoOf(cost), 0n);
  const text = nano.toString().padStart(10, '0');
  return {
    tokens: today.reduce((sum, { tokens }) => sum + tokens, 0),
    workflows: today.length,
    ...(priced.length > 0 && {
      cost: `${text.slice(0, -9)}.${text.slice(-9)}`,
      currency: priced[0]?.currency,
    }),
  };
}

function nanoOf(cost: string): bigint {
  const [whole = '0', fraction = ''] = cost.split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}
