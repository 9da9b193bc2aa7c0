/** Which records come first when not all can be written, and what each costs of the write budget. */
import { isTerminal } from '../../api/phase.ts';
import type { RunState } from '../types.ts';

/** A create is paid with the terminal write that follows it, which then is free: what was begun is always ended. */
const CREATE_COST = 2;
const UPDATE_COST = 1;

/** Writes to the API server that recording this state takes from the budget. */
export function costOf(state: RunState): number {
  if (!hasObject(state)) return CREATE_COST;
  return isTerminal(state.phase) ? 0 : UPDATE_COST;
}

/**
 * First what is paid for already; then failures, since people look for them; then runs that go on; then successes, of
 * which one may be left out.
 */
export function byRecordPriority(states: RunState[]): RunState[] {
  return states.toSorted((a, b) => rank(a) - rank(b));
}

function rank(state: RunState): number {
  if (costOf(state) === 0) return 0;
  if (!isTerminal(state.phase)) return 2;
  return state.phase === 'Succeeded' ? 3 : 1;
}

/** Also one that somebody has begun to make: it was paid for then. */
function hasObject({ recordedUid, recordUid, createBegun }: RunState): boolean {
  return (recordedUid ?? recordUid) !== undefined || createBegun === true;
}
