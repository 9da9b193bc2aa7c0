/** Decides what a call of the move does next. Pure. */

/**
 * How far the move has come, as stored in the source. `moving`: its projects are closed, or being closed.
 * `cancelled`: they are open again. `moved`: the target has all data, and may be in use. `token` identifies
 * the move, `call` the last call of the command that has worked on it, and `to` is the URL of the target.
 */
export type SourceMark = {
  token: string;
  call: string;
  state: 'moving' | 'cancelled' | 'moved';
  to: string;
};
/**
 * The same, as stored in the target. `verified`: it has all data, and some of its projects may be open.
 * `done`: all are open.
 */
export type TargetMark = { token: string; call: string; state: 'copying' | 'verified' | 'done' };

export type StoredState = {
  source: SourceMark | undefined;
  target: TargetMark | undefined;
  /** Whether the target has no other keys of Windlass. */
  isTargetEmpty: boolean;
};

export type Plan =
  /** Starts a move. */
  | { step: 'begin' }
  /** Continues to copy after an interruption. */
  | { step: 'continue' }
  /** Copies everything again, because the move was cancelled, so that the source may have changed. */
  | { step: 'restart' }
  /** Opens the projects of the target: everything was copied and compared. */
  | { step: 'open' }
  | { step: 'nothing'; why: string }
  | { step: 'refuse'; why: string };

const refuse = (why: string): Plan => ({ step: 'refuse', why });
const OTHER_KEYS =
  'the target has keys of Windlass that this move did not write: use an empty Redis, or remove its keys wl:* first';

/** What to do with these two stores. */
export function planOf({ source, target, isTargetEmpty }: StoredState): Plan {
  if (source && target && source.token === target.token) return resumedPlan(source, target);
  if (source?.state === 'moved') return refuse(outdated(source));
  if (target || !isTargetEmpty) return refuse(OTHER_KEYS);
  return { step: 'begin' };
}

function resumedPlan(source: SourceMark, target: TargetMark): Plan {
  if (source.state === 'cancelled') return { step: 'restart' };
  if (target.state === 'copying')
    return source.state === 'moved' ? refuse(outdated(source)) : { step: 'continue' };
  if (source.state === 'moved' && target.state === 'done')
    return { step: 'nothing', why: 'the source has already been moved to this target' };
  return { step: 'open' };
}

function outdated({ to }: SourceMark): string {
  return `the source was moved to ${to}, and its data is out of date: do not move it again`;
}

/**
 * Why the move cannot be cancelled; undefined if it can. `target` is undefined if it has no mark or cannot be
 * read.
 */
export function cancelProblem({
  source,
  target,
}: Pick<StoredState, 'source' | 'target'>): string | undefined {
  if (source === undefined) return 'no move of this source has begun';
  // A call that was interrupted is repeated.
  if (source.state === 'cancelled') return undefined;
  if (source.state === 'moved' || (target?.token === source.token && target.state !== 'copying'))
    return `${source.to} has all data, and may be in use: finish the move`;
  return undefined;
}
