/** How a run went, in a sentence. */
import { isTerminal } from '../../../api/phase.ts';
import { lasting } from '../../words.ts';
import type { NodeView, RunHead } from './runState.ts';

export type RunResult = {
  text: string;
  /** Why, where it failed or was replaced. */
  why?: string;
  /** The node that it failed at. */
  node?: string;
};

/** The sentence for a run that has ended; undefined for one that goes on. */
export function resultOf(run: RunHead, nodes: ReadonlyMap<string, NodeView>): RunResult | undefined {
  if (!isTerminal(run.phase)) return undefined;
  const took = durationOf(run, 0);
  const time = took === undefined ? '' : lasting(took);
  if (run.phase === 'Succeeded') {
    const to = run.until === undefined ? '' : ` as far as ${run.until}`;
    return { text: `Succeeded${to}${time && ` in ${time}`}` };
  }
  if (run.phase === 'Cancelled') return { text: `Cancelled${time && ` after ${time}`}`, ...whyReplaced(run) };
  const failed = failedNode(nodes);
  const why = failed?.message ?? run.message;
  return {
    text: failed === undefined ? 'Failed' : `Failed at ${failed.id}`,
    ...(why !== undefined && why !== '' && { why }),
    ...(failed !== undefined && { node: failed.id }),
  };
}

function whyReplaced({ reason, message }: RunHead): Pick<RunResult, 'why'> {
  return reason === 'Replaced' && message !== undefined ? { why: message } : {};
}

/** The node that a run failed at: the one that failed first. */
export function failedNode(nodes: ReadonlyMap<string, NodeView>): NodeView | undefined {
  const failed = [...nodes.values()].filter(({ phase }) => phase === 'Failed' || phase === 'Unknown');
  return failed.toSorted((a, b) => timeOf(a.completionTime) - timeOf(b.completionTime))[0];
}

type Timed = { startTime?: string | undefined; completionTime?: string | undefined };

/** How long it has taken so far, in milliseconds; undefined where it has not begun. */
export function durationOf({ startTime, completionTime }: Timed, now: number): number | undefined {
  if (startTime === undefined) return undefined;
  const end = completionTime === undefined ? now : Date.parse(completionTime);
  return Math.max(0, end - Date.parse(startTime));
}

function timeOf(time: string | undefined): number {
  return time === undefined ? Infinity : Date.parse(time);
}
