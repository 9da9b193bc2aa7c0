/**
 * Rate limits of chats: messages of a session, and of a client address. Memory is bounded: only recent
 * sessions and addresses are kept, and a forgotten one begins with a full bucket.
 */
import { createRecentMap } from './boundedMaps.ts';
import { createBucket, isUnlimited, secondsToWait, take, type Bucket } from './bucket.ts';
import type { TooMany } from './rates.ts';
import type { LimitSettings } from './settings.ts';

export type ChatRates = {
  /** Counts a message; the refusal if there are too many. */
  ofMessage: (session: string, address: string, now: number) => TooMany | undefined;
};

const MAX_REMEMBERED = 20_000;

export function createChatRates({
  chatPerSession,
  chatPerAddress,
}: Pick<LimitSettings, 'chatPerSession' | 'chatPerAddress'>): ChatRates {
  const sessions = createRecentMap<Bucket>(MAX_REMEMBERED);
  const addresses = createRecentMap<Bucket>(MAX_REMEMBERED);
  return {
    ofMessage: (session, address, now) => {
      const limits = [
        { reason: 'rate-per-address', rate: chatPerAddress, buckets: addresses, key: address },
        { reason: 'rate-per-session', rate: chatPerSession, buckets: sessions, key: session },
      ] as const;
      const own = limits
        .filter(({ rate }) => !isUnlimited(rate))
        .map(({ reason, rate, buckets, key }) => ({
          reason,
          bucket: buckets.of(key, () => createBucket(rate, now)),
        }));
      for (const { reason, bucket } of own) {
        const retryAfter = secondsToWait(bucket, now);
        if (retryAfter > 0) return { reason, retryAfter };
      }
      for (const { bucket } of own) take(bucket);
      return undefined;
    },
  };
}
