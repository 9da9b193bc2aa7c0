/** One after the other: whoever has the turn is alone with what it does. */

export type Turns = {
  /** Waits for the turn and does the work; undefined where the signal was aborted before the turn came. */
  take<T>(work: () => Promise<T>, giveUp: AbortSignal): Promise<{ result: T } | undefined>;
};

export function createTurns(): Turns {
  let isTaken = false;
  const waiting: (() => void)[] = [];
  const pass = () => {
    const next = waiting.shift();
    if (next) next();
    else isTaken = false;
  };
  return {
    take: async (work, giveUp) => {
      if (isTaken && !(await comes(waiting, giveUp))) return undefined;
      isTaken = true;
      try {
        return { result: await work() };
      } finally {
        pass();
      }
    },
  };
}

function comes(waiting: (() => void)[], giveUp: AbortSignal): Promise<boolean> {
  if (giveUp.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const leave = () => {
      waiting.splice(waiting.indexOf(come), 1);
      resolve(false);
    };
    const come = () => {
      giveUp.removeEventListener('abort', leave);
      resolve(true);
    };
    waiting.push(come);
    giveUp.addEventListener('abort', leave, { once: true });
  });
}
