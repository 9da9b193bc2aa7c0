/**
 * A signal that wakes one waiter and is never lost: raised before the wait, it ends the next wait at once.
 */

export type Signal = { raise: () => void; wait: (timeoutMs: number) => Promise<void> };

export function createSignal(): Signal {
  let raised = false;
  let wake = (): void => undefined;
  return {
    raise: () => {
      raised = true;
      wake();
    },
    /** Resolves when it was raised since the last wait, or after the time. */
    wait: async (timeoutMs) => {
      if (!raised)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      raised = false;
      wake = () => undefined;
    },
  };
}
