/**
 * Bounds the attempts in flight of a runner. A run may always have one, so that no run waits for another.
 * Further attempts share the limit. While it is used up, waiting runs get one each, in order. Pure.
 */

/** The attempts in flight of one run. */
export type AttemptShare = {
  /** Whether one more attempt may start. If not, the run is woken when it gets one. */
  take(): boolean;
  /** An attempt has ended, or did not start. */
  release(): void;
  /** Starts an attempt that has ended once more. The limit may be exceeded. */
  resume(): void;
  /** Returns attempts that the run was granted and does not need. */
  returnUnused(): void;
  /** The run has ended here. */
  close(): void;
};

export class AttemptLimit {
  #free: number;
  readonly #waiting: Share[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  /** The share of a run. `wake` is called when the run may start an attempt that it had to wait for. */
  share(wake: () => void): AttemptShare {
    return new Share(this, wake);
  }

  /** Takes one of the free attempts, or queues the share. */
  take(share: Share): boolean {
    if (this.#free > 0 && this.#waiting.length === 0) {
      this.#free -= 1;
      return true;
    }
    if (!share.isQueued) this.#waiting.push(share);
    share.isQueued = true;
    return false;
  }

  /** Takes one although none may be free. */
  exceed(): void {
    this.#free -= 1;
  }

  /** Returns attempts, which waiting runs get. */
  release(count: number): void {
    this.#free += count;
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#free -= 1;
      next.grant();
    }
  }

  /** The share waits no more. */
  leave(share: Share): void {
    if (share.isQueued) this.#waiting.splice(this.#waiting.indexOf(share), 1);
  }
}

class Share implements AttemptShare {
  readonly #limit: AttemptLimit;
  readonly #wake: () => void;
  #inFlight = 0;
  #granted = 0;
  isQueued = false;

  constructor(limit: AttemptLimit, wake: () => void) {
    this.#limit = limit;
    this.#wake = wake;
  }

  take(): boolean {
    if (this.#inFlight > 0) {
      if (this.#granted > 0) this.#granted -= 1;
      else if (!this.#limit.take(this)) return false;
    }
    this.#inFlight += 1;
    return true;
  }

  release(): void {
    this.#inFlight -= 1;
    if (this.#inFlight > 0) this.#limit.release(1);
  }

  resume(): void {
    this.#inFlight += 1;
    if (this.#inFlight > 1) this.#limit.exceed();
  }

  returnUnused(): void {
    if (this.#granted === 0) return;
    const granted = this.#granted;
    this.#granted = 0;
    this.#limit.release(granted);
  }

  close(): void {
    while (this.#inFlight > 0) this.release();
    this.returnUnused();
    this.#limit.leave(this);
  }

  /** The share has got an attempt that it waited for. */
  grant(): void {
    this.isQueued = false;
    this.#granted += 1;
    this.#wake();
  }
}

/** The share of a run that no limit bounds. */
export const UNLIMITED: AttemptShare = {
  take: () => true,
  release: () => undefined,
  resume: () => undefined,
  returnUnused: () => undefined,
  close: () => undefined,
};
