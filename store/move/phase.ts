/** What is left if a move ends before its end. Pure. */

/**
 * `unchanged`: the call has changed nothing. `closed`: projects of the source are closed. `opening`: the
 * target has all data, and some of its projects may be open.
 */
export type MovePhase = 'unchanged' | 'closed' | 'opening';

const NEXT: Record<MovePhase, string | undefined> = {
  unchanged: undefined,
  closed:
    'projects of the source are closed, and accept no events: call the command again to continue, or with --cancel to open them again',
  opening: 'the target has all data: call the command again to finish the move',
};

/** What the store looks like, and what to do next; undefined if nothing has changed. */
export function nextAfter(phase: MovePhase): string | undefined {
  return NEXT[phase];
}
