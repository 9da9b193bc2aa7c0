/** The poll state of a trigger. Pure. */
import type { WorkflowStatus } from '../../../api/workflow.ts';

export type Poll = {
  lastAt?: number;
  /** Estimated. */
  nextAt?: number;
  lastError?: string;
  /** The cursor, if it is readable for people. */
  cursor?: string;
};

const LONGEST = 300;

/** Unknown values are omitted. */
export function pollOf(poll: WorkflowStatus['poll'], intervalSeconds: number): Poll {
  const { lastPollTime, lastError, cursor } = poll ?? {};
  const lastAt = lastPollTime === undefined ? undefined : Date.parse(lastPollTime);
  return {
    ...(lastAt !== undefined && { lastAt, nextAt: lastAt + intervalSeconds * 1_000 }),
    ...(lastError !== undefined && { lastError }),
    ...(cursor !== undefined && { cursor: shownCursor(cursor) }),
  };
}

/** A cursor is stored together with what it belongs to; people see the cursor alone. */
function shownCursor(text: string): string {
  try {
    const { cursor } = JSON.parse(text) as { cursor?: unknown };
    return JSON.stringify(cursor ?? null).slice(0, LONGEST);
  } catch {
    return text.slice(0, LONGEST);
  }
}

/** The default of the schema. */
export const DEFAULT_INTERVAL_SECONDS = 60;

/** A new value for the reset annotation: each value resets the cursor once. */
export function resetNow(now: number): string {
  return new Date(now).toISOString();
}
