/**
 * How runs ended here of late, so that one which a run store that was put back hands out again is not
 * executed again. A table of fixed size: a run takes the place of another, and nothing is left for the
 * collector.
 */
import type { RunEnd, RunState } from '../runs/types.ts';

type EndedRun = { run: string; acceptedAt: number; end: RunEnd };

const PLACES = 4_096;

export class EndedRuns {
  readonly #places: (EndedRun | undefined)[] = Array.from({ length: PLACES }, () => undefined);

  add({ run, acceptedAt }: RunState, end: RunEnd): void {
    this.#places[placeOf(run)] = { run, acceptedAt, end };
  }

  /** How that very run ended; a later one may have its name. */
  find({ run, acceptedAt }: RunState): RunEnd | undefined {
    const ended = this.#places[placeOf(run)];
    return ended?.run === run && ended.acceptedAt === acceptedAt ? ended.end : undefined;
  }
}

function placeOf(run: string): number {
  let hash = 0;
  for (let at = 0; at < run.length; at += 1) hash = (hash * 31 + run.charCodeAt(at)) >>> 0;
  return hash % PLACES;
}
