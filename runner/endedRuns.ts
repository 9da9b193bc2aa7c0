/**
 * The ends of recent runs, so that a run which a rewound run store hands out again is not executed again. A
 * table of fixed size: a run replaces another, which leaves no garbage.
 */
import type { RunEnd } from '../runs/types/result.ts';
import type { RunState } from '../runs/types/run.ts';

type EndedRun = { run: string; acceptedAt: number; end: RunEnd };

const SLOTS = 4_096;

export class EndedRuns {
  readonly #slots: (EndedRun | undefined)[] = Array.from({ length: SLOTS }, () => undefined);

  add({ run, acceptedAt }: RunState, end: RunEnd): void {
    this.#slots[slotOf(run)] = { run, acceptedAt, end };
  }

  /** The end of this run. A later run may have the same name. */
  find({ run, acceptedAt }: RunState): RunEnd | undefined {
    const ended = this.#slots[slotOf(run)];
    return ended?.run === run && ended.acceptedAt === acceptedAt ? ended.end : undefined;
  }
}

function slotOf(run: string): number {
  let hash = 0;
  for (let at = 0; at < run.length; at += 1) hash = (hash * 31 + run.charCodeAt(at)) >>> 0;
  return hash % SLOTS;
}
