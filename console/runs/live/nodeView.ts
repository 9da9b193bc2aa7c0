/** What a record says about loops, waits and children, with the words for it. */
import type { RunView } from '../../../api/runView.ts';
import { count, fullTime } from '../../ui/format.ts';

/** The counts of a node with forEach or repeat, and of a group. */
export type ItemCounts = {
  total: number;
  succeeded: number;
  failed: number;
  running: number;
  /** The first ones. Live events have none. */
  failures?: { index: number; reason: string; message: string }[];
};

/** What a node waits for. `run`: the name of the child. */
export type WaitingFor = {
  until?: string;
  callback?: { until: string };
  memory?: { until: string };
  run?: string;
};

/** The state of a node. Nodes without any event have none. */
export type NodeView = RunView['nodes'][number] & {
  items?: ItemCounts;
  /** The index of the item whose values are shown, for a node of a body. */
  item?: number;
  waitingFor?: WaitingFor;
  /** The child that the node started. */
  run?: string;
};

/** A run without its nodes. */
export type RunHead = Omit<RunView, 'nodes'>;

/** `3 of 10, 1 failed`. */
export function itemsText({ total, succeeded, failed }: ItemCounts): string {
  const ended = succeeded + failed;
  const done = ended === total ? count(total, 'item') : `${ended} of ${total}`;
  return failed === 0 ? done : `${done}, ${failed} failed`;
}

/** What a node waits for, in a sentence with local times. */
export function waitText({ until, callback, memory, run }: WaitingFor): string {
  if (memory !== undefined)
    return `Waits for its memory, which another run uses, until ${fullTime(memory.until)}.`;
  if (callback !== undefined) return `Waits for a callback until ${fullTime(callback.until)}.`;
  if (run !== undefined) return `Waits for the run ${run}.`;
  return until === undefined ? 'Waits to continue.' : `Waits until ${fullTime(until)}.`;
}
