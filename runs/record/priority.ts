/**
 * The record priority: which runs are recorded first while the write budget is short, and what each costs.
 */
import { isTerminal } from '../../api/phase.ts';
import type { RunState } from '../types/run.ts';

/** A create pays for the terminal write that follows, so that each object that was created gets its end. */
const CREATE_COST = 2;
const UPDATE_COST = 1;

/** The cost of recording this state, in writes of the budget. */
export function costOf(state: RunState): number {
  if (!hasObject(state)) return CREATE_COST;
  return isTerminal(state.phase) ? 0 : UPDATE_COST;
}

/**
 * First runs that are paid for; then failures, because people look for them; then unfinished runs; then
 * successes, which may be left out.
 */
export function byRecordPriority(states: RunState[]): RunState[] {
  return states.toSorted((a, b) => rank(a) - rank(b));
}

function rank(state: RunState): number {
  if (costOf(state) === 0) return 0;
  if (!isTerminal(state.phase)) return 2;
  return state.phase === 'Succeeded' ? 3 : 1;
}

/** Also an object that may exist: it was paid for. */
export function hasObject({ recordedUid, recordUid, createBegun }: RunState): boolean {
  return (recordedUid ?? recordUid) !== undefined || createBegun === true;
}
