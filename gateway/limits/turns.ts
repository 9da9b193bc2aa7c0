/**
 * What may wait for its turn: a few pieces of work for each turn of the event loop, first come, first served. Whoever is refused
 * may: answered as they come, a flood of calls that are refused would make each turn as long as all of its answers take, and
 * every call that is served waits for several turns.
 */
export type Turns = { add: (work: () => void) => void };

const PER_TURN = 4;

/**
 * `perTurn` pieces at most are done in one turn, and what is done is let go, also when the flood never ends. Work must not throw.
 */
export function createTurns(perTurn = PER_TURN): Turns {
  let arrived: (() => void)[] = [];
  /** What arrived before all that is in `arrived`, the last of it first. */
  let due: (() => void)[] = [];
  let isScheduled = false;
  const schedule = (): void => {
    if (!isScheduled) setImmediate(take);
    isScheduled = true;
  };
  const take = (): void => {
    isScheduled = false;
    for (let done = 0; done < perTurn; done += 1) {
      if (due.length === 0) [due, arrived] = [arrived.toReversed(), []];
      due.pop()?.();
    }
    if (due.length + arrived.length > 0) schedule();
  };
  return {
    add: (work) => {
      arrived.push(work);
      schedule();
    },
  };
}
