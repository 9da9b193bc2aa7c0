/** A counting semaphore: how many exchanges may be in progress, per token and in all. */

export type Slots = {
  /** Takes places; undefined if there are too few. The result releases them, once. */
  enter: (token: string, places?: number) => (() => void) | undefined;
};

export function createSlots(limits: { perToken: number; total: number }): Slots {
  const taken = new Map<string, number>();
  let total = 0;

  function change(token: string, by: number): void {
    const left = (taken.get(token) ?? 0) + by;
    total += by;
    if (left > 0) taken.set(token, left);
    else taken.delete(token);
  }

  return {
    enter: (token, places = 1) => {
      const isFull = (taken.get(token) ?? 0) + places > limits.perToken || total + places > limits.total;
      if (isFull) return undefined;
      change(token, places);
      let isOpen = true;
      return () => {
        if (isOpen) change(token, -places);
        isOpen = false;
      };
    },
  };
}
