/** Failures in the middle of a look at a spreadsheet. */
import { expect } from 'vitest';
import type { SheetPolls } from './sheetPolls.ts';

/** `fail` has the server fail from the request with that number on: the look ends as expected each time, and never shows its token. */
export async function failAtEach(
  polls: SheetPolls,
  { requests, fail }: { requests: number; fail: (after: number) => void },
  expected: { reason: string; retryAfterSeconds: number | undefined },
): Promise<void> {
  for (let after = 0; after < requests; after += 1) {
    fail(after);
    const error = await polls.poll().catch((error: unknown) => error);
    expect(error).toMatchObject(expected);
    expect(String(error)).not.toContain('good-token');
  }
}
