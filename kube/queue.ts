/**
 * A work queue of keys: a key is queued at most once and never processed concurrently; a key that is added
 * while it is processed is processed again afterwards. It holds keys instead of events, so that a burst
 * collapses into one run.
 */
import { systemClock, type Clock } from './clock.ts';
import { backoffDelay, type Backoff } from './backoff.ts';

export type QueueOptions = {
  /** Keys that are processed concurrently; default 4. */
  concurrency?: number;
  backoff?: Backoff;
  clock?: Clock;
  /** A number in [0, 1), for the jitter. */
  random?: () => number;
};

export type QueueStats = {
  /** Keys that wait for the concurrency limit. */
  ready: number;
  /** Keys that wait for a time. */
  delayed: number;
  running: number;
  /** Keys whose last run failed. */
  failing: number;
};

export type Queue = {
  /** Processes the key as soon as the concurrency limit allows. */
  add(key: string): void;
  /** Processes the key after `ms`, or earlier if it is added earlier. A run of the key cancels it. */
  addAfter(key: string, ms: number): void;
  /**
   * Processes the key after its back-off, which grows with every call until `forget`. Returns the delay in
   * milliseconds.
   */
  retry(key: string): number;
  /** Resets the back-off of the key. */
  forget(key: string): void;
  stats(): QueueStats;
  /** Starts processing. `work` must not reject. */
  start(work: (key: string) => Promise<void>): void;
  /** Refuses further keys and resolves when no key is processed any more. */
  drain(): Promise<void>;
};

const defaultBackoff: Backoff = { initialMs: 250, factor: 2, maxMs: 300_000, jitter: 0.2 };

/** Creates a queue that accepts keys at once and processes them after `start`. */
export function createQueue(options: QueueOptions = {}): Queue {
  return new KeyedQueue(options);
}

type Entry = {
  state: 'idle' | 'ready' | 'running';
  /** Added while running: must be processed again. */
  dirty: boolean;
  failures: number;
  /** When the timer fires, on the queue's clock; Infinity without a timer. */
  dueAt: number;
  cancelTimer: () => void;
};

class KeyedQueue implements Queue {
  readonly #concurrency: number;
  readonly #backoff: Backoff;
  readonly #clock: Clock;
  readonly #random: () => number;
  /** Only keys with state; `forget` removes them. */
  readonly #entries = new Map<string, Entry>();
  readonly #ready: string[] = [];
  readonly #drained = Promise.withResolvers<void>();
  #running = 0;
  #draining = false;
  #work: ((key: string) => Promise<void>) | undefined;

  constructor(options: QueueOptions) {
    this.#concurrency = options.concurrency ?? 4;
    this.#backoff = options.backoff ?? defaultBackoff;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  start(work: (key: string) => Promise<void>): void {
    this.#work = work;
    this.#fill();
  }

  add(key: string): void {
    if (this.#draining) return;
    const entry = this.#entryOf(key);
    if (entry.state === 'running') entry.dirty = true;
    if (entry.state !== 'idle') return;
    stopTimer(entry);
    entry.state = 'ready';
    this.#ready.push(key);
    this.#fill();
  }

  addAfter(key: string, ms: number): void {
    if (this.#draining) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const entry = this.#entryOf(key);
    const dueAt = this.#clock.now() + ms;
    if (entry.state === 'ready' || dueAt >= entry.dueAt) return;
    stopTimer(entry);
    entry.dueAt = dueAt;
    entry.cancelTimer = this.#clock.timer(ms, () => {
      stopTimer(entry);
      this.add(key);
    });
  }

  retry(key: string): number {
    const entry = this.#entryOf(key);
    entry.failures += 1;
    const delay = backoffDelay(this.#backoff, entry.failures, this.#random);
    this.addAfter(key, delay);
    return delay;
  }

  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.failures = 0;
    this.#dropIfUnused(key, entry);
  }

  stats(): QueueStats {
    const all = [...this.#entries.values()];
    return {
      ready: this.#ready.length,
      delayed: all.filter((entry) => entry.dueAt !== Infinity).length,
      running: this.#running,
      failing: all.filter((entry) => entry.failures > 0).length,
    };
  }

  drain(): Promise<void> {
    this.#draining = true;
    for (const entry of this.#entries.values()) stopTimer(entry);
    this.#ready.length = 0;
    if (this.#running === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  #fill(): void {
    while (this.#work !== undefined && this.#running < this.#concurrency) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      void this.#run(key, this.#work);
    }
  }

  async #run(key: string, work: (key: string) => Promise<void>): Promise<void> {
    const entry = this.#entryOf(key);
    entry.state = 'running';
    entry.dirty = false;
    this.#running += 1;
    try {
      await work(key);
    } finally {
      this.#running -= 1;
      entry.state = 'idle';
      if (entry.dirty) this.add(key);
      this.#dropIfUnused(key, entry);
      this.#fill();
      if (this.#draining && this.#running === 0) this.#drained.resolve();
    }
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = { state: 'idle', dirty: false, failures: 0, dueAt: Infinity, cancelTimer: () => {} };
    this.#entries.set(key, entry);
    return entry;
  }

  #dropIfUnused(key: string, entry: Entry): void {
    if (entry.state === 'idle' && entry.dueAt === Infinity && entry.failures === 0) this.#entries.delete(key);
  }
}

function stopTimer(entry: Entry): void {
  entry.cancelTimer();
  entry.dueAt = Infinity;
}
