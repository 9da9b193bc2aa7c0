/** What a record says about loops, waits and children, with the words for it. */
import type { NodePhase } from '../../../api/phase.ts';
import type { RunView } from '../../../api/runView.ts';
import { capitalized, count, fullTime } from '../../ui/format.ts';

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

/** Whether a node succeeded although items of it failed, which its phase does not tell. */
export function hasFailedItems(view: Pick<NodeView, 'phase' | 'items'> | undefined): boolean {
  return view?.phase === 'Succeeded' && (view.items?.failed ?? 0) > 0;
}

/**
 * The words under a node: how far a loop is, or whose item a node of its body shows, and the duration.
 * Without a duration a node of a body tells its phase.
 */
export function markText(
  view: Pick<NodeView, 'phase' | 'items' | 'item'> | undefined,
  phase: string,
  took?: string,
): string {
  const { items, item } = view ?? {};
  const words = [
    items && itemsText(items),
    item === undefined || took !== undefined ? undefined : phase,
    item === undefined ? undefined : `item [${item}]`,
    took,
  ].filter((word) => word !== undefined);
  const text = words.length === 0 ? phase : words.join(' · ');
  return capitalized(text);
}

/** Which item a node of a body shows. */
export function sampleText(item: number): string {
  return `Item [${item}] of the loop: the first one that failed, or the last one that ended.`;
}

/** What a node waits for, in a sentence with local times. */
export function waitText({ until, callback, memory, run }: WaitingFor): string {
  if (memory !== undefined)
    return `Waits for its memory, which another run uses, until ${fullTime(memory.until)}.`;
  if (callback !== undefined) return `Waits for a callback until ${fullTime(callback.until)}.`;
  if (run !== undefined) return `Waits for the run ${run}.`;
  return until === undefined ? 'Waits to continue.' : `Waits until ${fullTime(until)}.`;
}

/** The phase in words. A node that is pending at the end of its run never ran. */
export function phaseText(phase: NodePhase, hasEnded: boolean): string {
  return phase === 'Pending' && hasEnded ? 'Not run' : phase;
}
