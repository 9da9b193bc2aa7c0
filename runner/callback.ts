/** Nodes that wait for a callback, and the signals that end their wait (`runs/signals.ts`). */
import { boundedDuration, DURATION_BOUNDS } from '../api/duration.ts';
import { closeSignal, readSignals } from '../runs/signals.ts';
import type { ClaimRef } from '../runs/types.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import {
  beginWait,
  endNode,
  endWait,
  locatedKey,
  succeed,
  type ExecutionState,
  type ScopeState,
} from './executionState.ts';
import { retryUntilStored } from './retryUntilStored.ts';

const DEFAULT_TIMEOUT = '24h';

/** Begins the wait of a node for its callback, or ends the node. Returns whether it has ended. */
export function startCallback(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  { timeout = DEFAULT_TIMEOUT, now }: { timeout?: string | undefined; now: number },
): boolean {
  const key = locatedKey(state, scope, id);
  const signal = state.signals.values.get(key);
  if (signal === undefined) {
    state.signals.awaiting.add(key);
    const delayMs = boundedDuration(timeout, DURATION_BOUNDS.callback);
    beginWait(state, scope, id, { delayMs, now, waitingFor: { callback: true } });
    return false;
  }
  if (isObject(signal) && 'body' in signal) {
    const { body } = signal;
    const text = typeof body === 'string' ? body : '';
    // Its body is stored in the output now. So the bodies for all items of a loop never add up.
    state.consumed.push(key);
    state.signals.values.delete(key);
    succeed(state, key, { output: { text_content: text, data_content: body } }, now);
    return true;
  }
  const message = `no call came within ${timeout}: check the caller, or set a longer wait.callback.timeout`;
  endNode(state, key, { phase: 'Failed', reason: 'CallbackTimeout', message }, now);
  return true;
}

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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
