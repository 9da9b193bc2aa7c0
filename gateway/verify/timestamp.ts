/** The time of signing: Unix seconds in digits, at most so many seconds from now, in either direction. */

const DIGITS = /^[0-9]{1,12}$/;

export type Timed = 'fresh' | 'stale' | 'malformed';

/** How a time of signing stands to `now`, in Unix seconds. Exactly the tolerance away is fresh. */
export function judgeTime(text: string, now: number, toleranceSeconds: number): Timed {
  if (!DIGITS.test(text)) return 'malformed';
  return Math.abs(now - Number(text)) <= toleranceSeconds ? 'fresh' : 'stale';
}
