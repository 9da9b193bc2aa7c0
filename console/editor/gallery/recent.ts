/** Which nodes the user added last. */
import type { Offer } from './offers.ts';

const MOST = 4;

/** The keys with this one first, without duplicates. Pure. */
export function withUsed(keys: readonly string[], key: string): string[] {
  return [key, ...keys.filter((other) => other !== key)].slice(0, MOST);
}

/** The offers of these keys, last used first. Keys without an offer are left out. Pure. */
export function recentOffers(offers: readonly Offer[], keys: readonly string[]): Offer[] {
  return keys.flatMap((key) => offers.find((offer) => offer.key === key) ?? []);
}
