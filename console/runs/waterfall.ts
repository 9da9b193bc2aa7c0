/** The bars of a run's timeline: their order, start and end. */
import type { NodeView, RunHead } from './live/nodeView.ts';

export type Bar = {
  node: NodeView;
  /** In percent of the run; undefined: not started. */
  left: number | undefined;
  width: number;
  ms: number | undefined;
};

/** The bars in the order of the revision. Other nodes follow by time. */
export function barsOf(
  run: RunHead,
  nodes: ReadonlyMap<string, NodeView>,
  order: readonly string[],
  now: number,
): Bar[] {
  const listed = [...order.map((id) => nodes.get(id) ?? pending(id)), ...rest(nodes, order)];
  const { from, to } = spanOf(run, [...nodes.values()], now);
  const whole = Math.max(1, to - from);
  return listed.map((node) => {
    const start = time(node.startTime);
    const ended = time(node.completionTime) ?? (isUnfinished(node) ? to : undefined);
    // Of the nodes of a loop the record does not have the end.
    if (start === undefined || ended === undefined) return { node, left: undefined, width: 0, ms: undefined };
    const end = Math.max(start, ended);
    const left = percent(start - from, whole);
    return { node, left, width: percent(end - from, whole) - left, ms: end - start };
  });
}

/** A wait before the start that is a smaller part of the run is left out. */
const SHORT_WAIT = 0.05;

/**
 * From the event to the end, or to now. Without a short wait before the start, so that the axis ends at the
 * duration of the run. Nodes that a resumed run kept began before its event.
 */
export function spanOf(
  { acceptedTime, startTime, completionTime }: RunHead,
  nodes: readonly NodeView[],
  now: number,
): { from: number; to: number } {
  const starts = [startTime, ...nodes.map((node) => node.startTime)].map(time);
  const known = starts.filter((start) => start !== undefined);
  const accepted = time(acceptedTime) ?? Math.min(now, ...known);
  const to = Math.max(accepted, time(completionTime) ?? now);
  const started = time(startTime) ?? accepted;
  return { from: started - accepted < SHORT_WAIT * (to - accepted) ? started : accepted, to };
}

/**
 * The wait before the start that the axis includes, in milliseconds and in percent of it: until now, or until
 * the run was cancelled, if it has not started. A run that was refused did not wait.
 */
export function waitIn(
  { phase, acceptedTime, startTime }: RunHead,
  { from, to }: { from: number; to: number },
): { ms: number; width: number } | undefined {
  const started = time(startTime) ?? (phase === 'Pending' || phase === 'Cancelled' ? to : from);
  if (acceptedTime === undefined || started <= from) return undefined;
  return { ms: started - from, width: percent(started - from, Math.max(1, to - from)) };
}

function rest(nodes: ReadonlyMap<string, NodeView>, order: readonly string[]): NodeView[] {
  const others = [...nodes.values()].filter(({ id }) => !order.includes(id));
  return others.toSorted((a, b) => (time(a.startTime) ?? Infinity) - (time(b.startTime) ?? Infinity) || 0);
}

function pending(id: string): NodeView {
  return { id, phase: 'Pending' };
}

const isUnfinished = ({ phase }: NodeView) => ['Pending', 'Running', 'Waiting'].includes(phase);

function percent(part: number, whole: number): number {
  return Math.max(0, Math.min(100, (part / whole) * 100));
}

function time(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
