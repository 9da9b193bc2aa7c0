/**
 * What a runner executes at the moment. A list whose places are used again: a map that changes as often as
 * runs come and go is made anew by the engine every few runs, and each map that it leaves behind keeps the
 * next one, with all that was in it, from being collected while it is young.
 */
import type { RunExecution } from './execute.ts';

export type Held = { token: string; readonly run: string; execution?: RunExecution };

export class HeldRuns {
  readonly #places: (Held | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** By the token: a run that was taken from us may come back while its old execution still ends. */
  has(token: string): boolean {
    return this.#places.some((held) => held?.token === token);
  }

  add(held: Held): void {
    const free = this.#places.indexOf(undefined);
    this.#places[free < 0 ? this.#places.length : free] = held;
    this.#size += 1;
  }

  /** Of something that is held. */
  remove(held: Held): void {
    this.#places[this.#places.indexOf(held)] = undefined;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<Held, void, undefined> {
    for (const held of this.#places) if (held) yield held;
  }
}
