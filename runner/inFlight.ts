/**
 * The runs in flight of a runner. A list whose slots are reused: the engine rebuilds a map that changes with
 * every run every few runs, and each discarded map keeps its successor and its entries from being collected
 * while they are young.
 */
import type { RunExecution } from './execute.ts';

export type RunInFlight = { token: string; readonly run: string; execution?: RunExecution };

export class RunsInFlight {
  readonly #slots: (RunInFlight | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Finds by token: a run that another runner took over may return while its old execution still ends. */
  has(token: string): boolean {
    return this.#slots.some((active) => active?.token === token);
  }

  add(active: RunInFlight): void {
    const free = this.#slots.indexOf(undefined);
    this.#slots[free < 0 ? this.#slots.length : free] = active;
    this.#size += 1;
  }

  /** Removes a run that was added. */
  remove(active: RunInFlight): void {
    this.#slots[this.#slots.indexOf(active)] = undefined;
    this.#size -= 1;
  }

  /**
   * The executions of a run: one that another runner took over may return while its old execution still ends.
   */
  of(run: string): RunInFlight[] {
    return this.#slots.filter((active): active is RunInFlight => active?.run === run);
  }

  *[Symbol.iterator](): Generator<RunInFlight, void, undefined> {
    for (const active of this.#slots) if (active) yield active;
  }
}
