/** What a call of the move leaves when it ends early, and what to do then. Pure. */

/**
 * `unchanged`: nothing was changed. `closed`: projects of the source are closed. `opening`: the target has
 * all data, and some of its projects may be open.
 */
export type LeftState = 'unchanged' | 'closed' | 'opening';

const ADVICE: Record<LeftState, string | undefined> = {
  unchanged: undefined,
  closed:
    'projects of the source are closed, and accept no events: call the command again to continue, or with --cancel to open them again',
  opening: 'the target has all data: call the command again to finish the move',
};

/** What the stores are like, and what to do next; undefined if nothing was changed. */
export function adviceFor(left: LeftState): string | undefined {
  return ADVICE[left];
}
