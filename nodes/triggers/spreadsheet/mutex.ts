/** A mutex: one caller at a time works, in the order in which they came. */

export type Mutex = {
  /**
   * Waits for the mutex and does the work; undefined if the signal was aborted before. Rejects as the work
   * does.
   */
  run<T>(work: () => Promise<T>, giveUp: AbortSignal): Promise<{ result: T } | undefined>;
};

export function createMutex(): Mutex {
  let isLocked = false;
  const waiting: (() => void)[] = [];
  const unlock = () => {
    const next = waiting.shift();
    if (next) next();
    else isLocked = false;
  };
  return {
    run: async (work, giveUp) => {
      if (isLocked && !(await acquired(waiting, giveUp))) return undefined;
      isLocked = true;
      try {
        return { result: await work() };
      } finally {
        unlock();
      }
    },
  };
}

function acquired(waiting: (() => void)[], giveUp: AbortSignal): Promise<boolean> {
  if (giveUp.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const leave = () => {
      waiting.splice(waiting.indexOf(acquire), 1);
      resolve(false);
    };
    const acquire = () => {
      giveUp.removeEventListener('abort', leave);
      resolve(true);
    };
    waiting.push(acquire);
    giveUp.addEventListener('abort', leave, { once: true });
  });
}
