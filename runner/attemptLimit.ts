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

type Share = { inFlight: number; granted: number; isQueued: boolean; readonly wake: () => void };

export class AttemptLimit {
  #free: number;
  readonly #waiting: Share[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  /** The share of a run. `wake` is called when the run may start an attempt that it had to wait for. */
  share(wake: () => void): AttemptShare {
    const share: Share = { inFlight: 0, granted: 0, isQueued: false, wake };
    return {
      take: () => this.#take(share),
      release: () => this.#release(share),
      resume: () => {
        share.inFlight += 1;
        if (share.inFlight > 1) this.#free -= 1;
      },
      returnUnused: () => this.#returnUnused(share),
      close: () => {
        while (share.inFlight > 0) this.#release(share);
        this.#returnUnused(share);
        if (share.isQueued) this.#waiting.splice(this.#waiting.indexOf(share), 1);
      },
    };
  }

  #take(share: Share): boolean {
    if (share.inFlight === 0) {
      share.inFlight = 1;
      return true;
    }
    if (share.granted > 0) share.granted -= 1;
    else if (this.#free > 0 && this.#waiting.length === 0) this.#free -= 1;
    else {
      if (!share.isQueued) this.#waiting.push(share);
      share.isQueued = true;
      return false;
    }
    share.inFlight += 1;
    return true;
  }

  #release(share: Share): void {
    share.inFlight -= 1;
    if (share.inFlight === 0) return;
    this.#free += 1;
    this.#grant();
  }

  #returnUnused(share: Share): void {
    this.#free += share.granted;
    share.granted = 0;
    this.#grant();
  }

  #grant(): void {
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#free -= 1;
      next.isQueued = false;
      next.granted += 1;
      next.wake();
    }
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
