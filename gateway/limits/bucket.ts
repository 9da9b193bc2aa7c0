/** Token buckets, which limit rates and allow bursts. Times are in milliseconds. */

export type Rate = { requestsPerSecond: number; burst?: number };

export type Bucket = { tokens: number; at: number; readonly perMs: number; readonly size: number };

export function isUnlimited({ requestsPerSecond }: Pick<Rate, 'requestsPerSecond'>): boolean {
  return requestsPerSecond === 0;
}

/** A full bucket. Without a burst, or with 0, it holds the tokens of two seconds. */
export function createBucket({ requestsPerSecond, burst = 0 }: Rate, now: number): Bucket {
  const size = burst > 0 ? burst : requestsPerSecond * 2;
  return { tokens: size, at: now, perMs: requestsPerSecond / 1_000, size };
}

/** Whole seconds until there is a token, at least 1; 0 if there is one. */
export function secondsToWait(bucket: Bucket, now: number): number {
  bucket.tokens = Math.min(bucket.size, bucket.tokens + Math.max(now - bucket.at, 0) * bucket.perMs);
  bucket.at = now;
  return bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) / bucket.perMs / 1_000);
}

/** Takes a token, after `secondsToWait` returned 0. */
export function take(bucket: Bucket): void {
  bucket.tokens -= 1;
}

/** Returns a token. */
export function returnToken(bucket: Bucket): void {
  bucket.tokens = Math.min(bucket.size, bucket.tokens + 1);
}
