/** The signals of a run in flight, which end the waits of its nodes (`runs/signals.ts`). */
import { closeSignal, readSignals } from '../runs/signals.ts';
import type { ClaimRef } from '../runs/types/claim.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import type { ExecutionState } from './executionState.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { endWait } from './waits.ts';

/** Reads the signals of the run, and ends the waits that they end. False if the process ends before. */
export async function readNewSignals(
  conn: RunStoreConnection,
  ref: ClaimRef,
  state: ExecutionState,
  abandon: AbortSignal,
): Promise<boolean> {
  const read = await retryUntilStored(() => readSignals(conn, ref), abandon);
  if (!read) return false;
  const { signals } = state;
  signals.version = read.version;
  // A store that lost its data has fewer than were read before.
  for (const [key, value] of read.values) signals.values.set(key, value);
  for (const key of signals.awaiting) if (signals.values.has(key)) endWait(state, key);
  return true;
}

/**
 * Ends the waits whose time has passed, each with its first signal: a call that came at the last moment, or
 * its end. Returns why the run must be given up, if it must.
 */
export async function closeDueSignals(
  conn: RunStoreConnection,
  ref: ClaimRef,
  state: ExecutionState,
  abandon: AbortSignal,
): Promise<'fenced' | 'abandoned' | undefined> {
  const { signals } = state;
  for (const key of signals.due.splice(0)) {
    if (!signals.awaiting.has(key)) continue;
    const closed = await retryUntilStored(() => closeSignal(conn, ref, key), abandon);
    if (!closed) return 'abandoned';
    if (closed.outcome === 'fenced') return 'fenced';
    signals.values.set(key, closed.value);
    endWait(state, key);
  }
  return undefined;
}
