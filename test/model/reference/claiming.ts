/** Claiming: the first of the queue, as far as limits, room and the caller's knowledge of the queue admit. */
import type { Call } from '../scripts.ts';
import { ANNOUNCED } from '../../../runs/lua.ts';
import { entryOf, inOrder, type Run, type State } from '../state.ts';
import { isUsedUp, NO_STORE, noteChange, runOf, stopTime, workflowOf, type Transition } from './moves.ts';

/** What one call does so far. */
type Claiming = { taken: unknown[]; v: number; isShort: boolean; admitted: number; isBegunOnly: boolean };

export const claim: Transition = (state, call) => {
  const { runner = '', max } = call.args;
  if (state.id === undefined) return NO_STORE;
  state.beats[runner] ??= 0;
  const queue = (most = 0) => inOrder(state, (run) => run.ready).slice(0, Math.max(Number(max), most));
  const claiming: Claiming = { taken: [], v: state.v, isShort: false, ...roomOf(state, call.now) };
  for (const [index, name] of queue().entries())
    if (call.rest.includes(entryOf(state, name)) && claimOne(state, call, claiming, { name, index })) break;
  const { taken, v, isShort } = claiming;
  Object.assign(state, { v, isShort });
  return [taken, queue(ANNOUNCED).map((name) => entryOf(state, name)), isShort ? 1 : 0, []];
};

/** True where no further run is considered. */
function claimOne(
  state: State,
  call: Call,
  claiming: Claiming,
  at: { name: string; index: number },
): boolean {
  const run = runOf(state, at.name);
  const { active, limit = Infinity } = workflowOf(state, run.wf);
  // One that is asked to end is claimed all the same, since nobody else ends it.
  if (active > limit && !run.cancel) {
    hold(state, run, call.now);
    return false;
  }
  const isFull = claiming.taken.length >= claiming.admitted;
  if (isFull || (claiming.isBegunOnly && run.started === undefined)) {
    claiming.isShort = true;
    return isFull;
  }
  const crashes = run.progress ? 0 : run.crashes;
  const isAlone = crashes >= 2;
  if (isAlone && claiming.taken.length > 0) return false;
  claiming.v = Math.max(claiming.v, run.ready ?? 0);
  Object.assign(run, { crashes, progress: false });
  claiming.taken.push(take(run, call, at, isAlone));
  return isAlone;
}

/**
 * How many runs may be claimed: where the store has no room, one at a time, and of those that have begun
 * where any waits.
 */
function roomOf(state: State, now: number): Pick<Claiming, 'admitted' | 'isBegunOnly'> {
  if (!isUsedUp(state.claimQuota)) return { admitted: Infinity, isBegunOnly: false };
  const runs = Object.values(state.runs);
  if (runs.some(({ token }) => token !== undefined)) return { admitted: 0, isBegunOnly: false };
  return { admitted: 1, isBegunOnly: runs.some(({ due = Infinity }) => due <= now + 60_000) };
}

/** Ready runs above a limit that was lowered meanwhile give their slot up. */
function hold(state: State, run: Run, now: number): void {
  const workflow = workflowOf(state, run.wf);
  workflow.active -= 1;
  workflow.vt = run.ready ?? 0;
  delete run.ready;
  run.overLimit = true;
  stopTime(run, now);
}

/** Gives the run to the runner, and what that is told of it. */
function take(
  run: Run,
  { args: { runner = '', random = '' }, now, wall }: Call,
  { name, index }: { name: string; index: number },
  isAlone: boolean,
): unknown[] {
  delete run.ready;
  if (run.timeout !== undefined) run.deadline ??= now + run.timeout;
  run.started ??= wall;
  run.token = `${runner}/${run.wf}/${random}${index * 2 + 1}`;
  run.phase = 'Running';
  run.wasClaimed = true;
  run.epoch = Math.max(run.epoch, now) + 1;
  run.sequence += 1;
  noteChange(run, now);
  const leftMs = run.deadline === undefined ? -1 : Math.max(0, run.deadline - now);
  return [name, run.token, leftMs, isAlone ? 1 : 0, run.cancel ? 1 : 0, now];
}
