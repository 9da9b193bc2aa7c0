/** Signals of runs: what comes from outside for one node, and the end of the time in which it may come. */
import { isTerminal } from '../../../api/phase.ts';
import type { Run } from '../state.ts';
import { fenced, isFenced, isUsedUp, NO_STORE, runOf, signalRun, type Transition } from './moves.ts';

/** The signal of a node whose wait has ended without a call. */
export const TIMEOUT = '{"timeout":true}';

const signal: Transition = (state, { args }) => {
  const { run_id = '', accepted_at, node = '', value = '' } = args;
  if (state.id === undefined) return NO_STORE;
  const run = state.runs[run_id];
  if (!run) return 'absent';
  if (accepted_at && Math.floor(Number(run.accepted) / 1_000) !== Number(accepted_at)) return 'absent';
  if (run.ended !== undefined || run.cancel) return 'over';
  const settled = settledBefore(run, node);
  if (settled) return settled;
  if (isUsedUp(state.claimQuota)) return 'full';
  signalRun(state, run, node, value);
  return 'stored';
};

function settledBefore(run: Run, node: string): 'over' | 'repeated' | undefined {
  const known = run.signals[node];
  if (known !== undefined) return known === TIMEOUT ? 'over' : 'repeated';
  const phase = phaseOf(run, node);
  if (phase === 'Succeeded') return 'repeated';
  return isTerminal(phase) || phase === 'Unknown' ? 'over' : undefined;
}

/** Histories have signals of nodes outside of loops alone. */
function phaseOf(run: Run, node: string): string | undefined {
  const text = run.nodes[node];
  return text === undefined ? undefined : (JSON.parse(text) as { phase: string }).phase;
}

const closeSignal: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const { run_id = '', node = '' } = call.args;
  const { signals } = runOf(state, run_id);
  return (signals[node] ??= TIMEOUT);
};

export const SIGNALING: Record<string, Transition> = { signal, closeSignal };
