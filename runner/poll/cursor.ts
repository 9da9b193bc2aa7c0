/**
 * Stored cursors: with the place that they belong to and the last handled reset. A trigger that watches
 * another place does not continue from its old cursor, and each reset is handled once.
 */
import type { PolledTrigger } from '../../store/polling/triggers.ts';

type StoredCursor = { place: string; reset?: string; cursor: unknown };

/** Where a poll continues: a cursor; for a first poll undefined, with an optional time. */
export type Start = { cursor: unknown; since?: Date };

type Trigger = Pick<PolledTrigger, 'place' | 'reset'>;

/** Where the next poll starts. */
export function startOf({ place, reset }: Trigger, text: string | undefined): Start {
  const stored = parse(text);
  const isReset = reset !== undefined && stored?.reset !== reset.value;
  if (isReset)
    return { cursor: undefined, ...(reset.since !== undefined && { since: new Date(reset.since) }) };
  return { cursor: stored?.place === place ? stored.cursor : undefined };
}

/** The text to store for the cursor of a poll. */
export function storedCursor({ place, reset }: Trigger, cursor: unknown): string {
  const stored: StoredCursor = { place, ...(reset && { reset: reset.value }), cursor };
  return JSON.stringify(stored);
}

/** Invalid cursors parse as undefined. */
function parse(text: string | undefined): StoredCursor | undefined {
  if (text === undefined) return undefined;
  try {
    const stored = JSON.parse(text) as Partial<StoredCursor> | null;
    return typeof stored?.place === 'string'
      ? { ...stored, place: stored.place, cursor: stored.cursor }
      : undefined;
  } catch {
    return undefined;
  }
}
