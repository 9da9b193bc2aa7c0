/**
 * What may wait for its turn: a few pieces of work for each turn of the event loop, first come, first served. Whoever is refused
 * may: answered as they come, a flood of calls that are refused would make each turn as long as all of its answers take, and
 * every call that is served waits for several turns.
 */
export type Turns = { add: (work: () => void) => void };

const PER_TURN = 4;

/** `perTurn` pieces at most are done in one turn. Work must not throw. */
export function createTurns(perTurn = PER_TURN): Turns {
  let waiting: (() => void)[] = [];
  let next = 0;
  const take = (): void => {
    for (let done = 0; done < perTurn && next < waiting.length; done += 1) {
      const work = waiting[next];
      next += 1;
      work?.();
    }
    if (next < waiting.length) setImmediate(take);
    else [waiting, next] = [[], 0];
  };
  return {
    add: (work) => {
      if (waiting.length === 0) setImmediate(take);
      waiting.push(work);
    },
  };
}
