/** How the look at an account is, of triggers that look again and again. Pure. */
import type { WorkflowStatus } from '../../../api/workflow.ts';

export type Poll = {
  lastAt?: number;
  /** About when somebody looks again. */
  nextAt?: number;
  lastError?: string;
  /** Where the account was read up to, as far as a person can make something of it. */
  cursor?: string;
};

const LONGEST = 300;

/** What the status says. Fields that are not known are not there. */
export function pollOf(poll: WorkflowStatus['poll'], intervalSeconds: number): Poll {
  const { lastPollTime, lastError, cursor } = poll ?? {};
  const lastAt = lastPollTime === undefined ? undefined : Date.parse(lastPollTime);
  return {
    ...(lastAt !== undefined && { lastAt, nextAt: lastAt + intervalSeconds * 1_000 }),
    ...(lastError !== undefined && { lastError }),
    ...(cursor !== undefined && { cursor: shownCursor(cursor) }),
  };
}

/** A cursor is kept with what it is of; people see the cursor alone. */
function shownCursor(text: string): string {
  try {
    const { cursor } = JSON.parse(text) as { cursor?: unknown };
    return JSON.stringify(cursor ?? null).slice(0, LONGEST);
  } catch {
    return text.slice(0, LONGEST);
  }
}

/** Polled without a field for it, as the schema says. */
export const DEFAULT_INTERVAL_SECONDS = 60;

/** What is written into the annotation to begin anew from now on: another value each time, since each is granted once. */
export function resetNow(now: number): string {
  return new Date(now).toISOString();
}
