/**
 * A work queue of keys: a key waits at most once, is never worked on twice at the same time, and what is added while
 * it is worked on is worked on afterwards. It holds keys and never events, so that a burst collapses into one run.
 */
import { systemClock, type Clock } from './clock.ts';
import { backoffDelay, type Backoff } from './backoff.ts';

export type QueueOptions = {
  /** Keys worked on at the same time; default 4. */
  concurrency?: number;
  backoff?: Backoff;
  clock?: Clock;
  /** A number in [0, 1), for the jitter. */
  random?: () => number;
};

export type QueueStats = {
  /** Waiting for a free place. */
  ready: number;
  /** Waiting for a time. */
  delayed: number;
  running: number;
  /** Keys whose last run failed. */
  failing: number;
};

export type Queue = {
  /** Works on the key as soon as there is a place. */
  add(key: string): void;
  /** Works on the key after `ms`, or earlier if it is added earlier; a run of the key cancels it. */
  addAfter(key: string, ms: number): void;
  /** Works on the key after its back-off, which grows with every call until `forget`. Returns the delay in ms. */
  retry(key: string): number;
  /** The key's next back-off starts from the beginning. */
  forget(key: string): void;
  stats(): QueueStats;
  /** Starts the work. `work` must not reject: whoever passes it maps failures. */
  start(work: (key: string) => Promise<void>): void;
  /** Takes no more keys and resolves when nothing is running any more. */
  drain(): Promise<void>;
};

const defaultBackoff: Backoff = { initialMs: 250, factor: 2, maxMs: 300_000, jitter: 0.2 };

type Entry = {
  state: 'idle' | 'ready' | 'running';
  /** Added while running: to be worked on again. */
  dirty: boolean;
  failures: number;
  dueAt: number;
  cancelTimer: (() => void) | undefined;
};

/** Creates a queue that takes keys at once and works on them after `start`. */
export function createQueue(options: QueueOptions = {}): Queue {
  const { concurrency = 4, backoff = defaultBackoff, clock = systemClock, random = Math.random } = options;
  const entries = new Map<string, Entry>();
  const ready: string[] = [];
  let running = 0;
  let draining = false;
  let work: ((key: string) => Promise<void>) | undefined;
  let drained: (() => void) | undefined;

  function entryOf(key: string): Entry {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { state: 'idle', dirty: false, failures: 0, dueAt: Infinity, cancelTimer: undefined };
      entries.set(key, entry);
    }
    return entry;
  }

  function clearTimer(entry: Entry): void {
    entry.cancelTimer?.();
    entry.cancelTimer = undefined;
    entry.dueAt = Infinity;
  }

  function dropIfUnused(key: string, entry: Entry): void {
    const used = entry.state !== 'idle' || entry.cancelTimer !== undefined || entry.failures > 0;
    if (!used) entries.delete(key);
  }

  function add(key: string): void {
    if (draining) return;
    const entry = entryOf(key);
    if (entry.state === 'running') entry.dirty = true;
    if (entry.state !== 'idle') return;
    clearTimer(entry);
    entry.state = 'ready';
    ready.push(key);
    fill();
  }

  function addAfter(key: string, ms: number): void {
    if (draining) return;
    if (ms <= 0) {
      add(key);
      return;
    }
    const entry = entryOf(key);
    const dueAt = clock.now() + ms;
    if (entry.state === 'ready' || dueAt >= entry.dueAt) return;
    clearTimer(entry);
    entry.dueAt = dueAt;
    entry.cancelTimer = clock.timer(ms, () => {
      clearTimer(entry);
      add(key);
    });
  }

  function retry(key: string): number {
    const entry = entryOf(key);
    entry.failures += 1;
    const delay = backoffDelay(backoff, entry.failures, random);
    addAfter(key, delay);
    return delay;
  }

  function forget(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entry.failures = 0;
    dropIfUnused(key, entry);
  }

  function fill(): void {
    while (work !== undefined && !draining && running < concurrency) {
      const key = ready.shift();
      if (key === undefined) return;
      void run(key, work);
    }
  }

  async function run(key: string, work: (key: string) => Promise<void>): Promise<void> {
    const entry = entryOf(key);
    entry.state = 'running';
    entry.dirty = false;
    running += 1;
    try {
      await work(key);
    } finally {
      running -= 1;
      entry.state = 'idle';
      if (entry.dirty) add(key);
      dropIfUnused(key, entry);
      fill();
      if (draining && running === 0) drained?.();
    }
  }

  function stats(): QueueStats {
    const all = [...entries.values()];
    return {
      ready: ready.length,
      delayed: all.filter((entry) => entry.cancelTimer !== undefined).length,
      running,
      failing: all.filter((entry) => entry.failures > 0).length,
    };
  }

  function drain(): Promise<void> {
    draining = true;
    for (const entry of entries.values()) clearTimer(entry);
    ready.length = 0;
    return new Promise((resolve) => {
      drained = resolve;
      if (running === 0) resolve();
    });
  }

  return {
    add,
    addAfter,
    retry,
    forget,
    stats,
    start: (next) => {
      work = next;
      fill();
    },
    drain,
  };
}
