/** The result of a run as a sentence. */
import { isTerminal } from '../../../api/phase.ts';
import { formatDuration } from '../../ui/format.ts';
import { named, type NodeNames } from '../../workflows/nodeNames.ts';
import { failedCondition, failureText } from './failureText.ts';
import { withoutNode } from './runMessage.ts';
import { hasFailedItems, type NodeView, type RunHead } from './nodeView.ts';

type Ends = { from: string; to: string };

export type RunResult = {
  text: string;
  /** The error message, or why the run was replaced. */
  why?: string;
  /** The failed node. */
  node?: string;
  /** The edge whose condition failed. */
  edge?: Ends;
  /** Whether items of a loop failed, although the run succeeded. */
  hasFailures?: true;
};

/** The sentence for an ended run, with the names of nodes; undefined for an unfinished one. */
export function resultOf(
  run: RunHead,
  nodes: ReadonlyMap<string, NodeView>,
  names: NodeNames,
): RunResult | undefined {
  if (!isTerminal(run.phase)) return undefined;
  const took = durationOf(run, 0);
  const time = took === undefined ? '' : formatDuration(took);
  if (run.phase === 'Succeeded') {
    const to = run.until === undefined ? '' : ` up to ${named(names, run.until)}`;
    const text = `Succeeded${to}${time && ` in ${time}`}`;
    if (![...nodes.values()].some(hasFailedItems)) return { text };
    return { text: `${text}, with failed items`, hasFailures: true };
  }
  if (run.phase === 'Cancelled') return { text: `Cancelled${time && ` after ${time}`}`, ...whyReplaced(run) };
  const edge = failedEdge(run, nodes);
  return { ...failureOf(run, failedNode(nodes), names), ...(edge && { edge }) };
}

/** The edge whose condition ended the run, in the scope of the run or in the body of the failed group. */
export function failedEdge(
  { phase, message = '' }: RunHead,
  nodes: ReadonlyMap<string, NodeView>,
): Ends | undefined {
  return phase === 'Failed' ? failedCondition(failedNode(nodes)?.message ?? message) : undefined;
}

function failureOf({ message = '' }: RunHead, failed: NodeView | undefined, names: NodeNames): RunResult {
  if (failed === undefined)
    return { text: 'Failed', ...(message !== '' && { why: failureText(message, names) }) };
  const { id } = failed;
  const why = failureText(withoutNode(failed.message ?? message, id), names);
  return { text: `Failed at ${named(names, id)}`, ...(why !== '' && { why }), node: id };
}

function whyReplaced({ reason, message }: RunHead): Pick<RunResult, 'why'> {
  return reason === 'Replaced' && message !== undefined ? { why: message } : {};
}

/** The node that failed first. */
export function failedNode(nodes: ReadonlyMap<string, NodeView>): NodeView | undefined {
  const failed = [...nodes.values()].filter(({ phase }) => phase === 'Failed' || phase === 'Unknown');
  return failed.toSorted((a, b) => timeOf(a.completionTime) - timeOf(b.completionTime))[0];
}

/**
 * The node to show first. A waiting run shows the node that it waits for, although another one may have
 * failed and been handled; other runs show the failed, the running or else the last node.
 */
export function relevantNode(
  phase: RunHead['phase'],
  nodes: ReadonlyMap<string, NodeView>,
  order: readonly string[],
): string | undefined {
  const begun = [...nodes.values()].filter((node) => node.phase !== 'Skipped' && node.phase !== 'Pending');
  const place = ({ id }: NodeView): number => order.indexOf(id);
  const waiting = phase === 'Waiting' ? begun.find((node) => node.phase === 'Waiting') : undefined;
  const running = begun.find((node) => node.phase === 'Running');
  const shown = waiting ?? failedNode(nodes) ?? running ?? begun.toSorted((a, b) => place(b) - place(a))[0];
  return shown?.id ?? order[0];
}

type Timed = { startTime?: string | undefined; completionTime?: string | undefined };

/** The duration so far, in milliseconds; undefined before the start. */
export function durationOf({ startTime, completionTime }: Timed, now: number): number | undefined {
  if (startTime === undefined) return undefined;
  const end = completionTime === undefined ? now : Date.parse(completionTime);
  return Math.max(0, end - Date.parse(startTime));
}

function timeOf(time: string | undefined): number {
  return time === undefined ? Infinity : Date.parse(time);
}
