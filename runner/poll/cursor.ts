/**
 * A cursor as it is kept: with the place that it is of, and the wish to begin anew that it was made after. So
 * a trigger that looks elsewhere by now does not go on from where it was, and each wish is granted once.
 */
import type { PolledTrigger } from '../../runs/polling/triggers.ts';

type Kept = { place: string; reset?: string; cursor: unknown };

/** From where a look goes on: a cursor, or none where it is the first one; then maybe a time. */
export type Start = { cursor: unknown; since?: Date };

type Asking = Pick<PolledTrigger, 'place' | 'reset'>;

/** Where the next look begins. */
export function startOf({ place, reset }: Asking, text: string | undefined): Start {
  const kept = parse(text);
  const isWished = reset !== undefined && kept?.reset !== reset.value;
  if (isWished)
    return { cursor: undefined, ...(reset.since !== undefined && { since: new Date(reset.since) }) };
  return { cursor: kept?.place === place ? kept.cursor : undefined };
}

/** The text to keep of a cursor that a look brought. */
export function keptCursor({ place, reset }: Asking, cursor: unknown): string {
  const kept: Kept = { place, ...(reset && { reset: reset.value }), cursor };
  return JSON.stringify(kept);
}

/** What is no cursor of ours, or damaged, is none. */
function parse(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined;
  try {
    const kept = JSON.parse(text) as Partial<Kept> | null;
    return typeof kept?.place === 'string' ? { ...kept, place: kept.place, cursor: kept.cursor } : undefined;
  } catch {
    return undefined;
  }
}
