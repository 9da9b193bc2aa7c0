/** Notes which parts of a changing state are read, so that components redraw only for those. Pure. */

/**
 * `state`: the parts of the current state as getters, beside the members of `others`. `snapshot`: another
 * object whenever one of the parts has changed that were read, and the same one otherwise. `get` must return
 * an object with the same keys each time.
 */
export function trackedReads<State extends object, Others extends object>(
  get: () => State,
  others: Others,
): { state: State & Others; snapshot: () => State } {
  let seen = get();
  const read = new Set<keyof State>();
  const state = { ...others };
  for (const name of Object.keys(seen) as (keyof State)[])
    Object.defineProperty(state, name, {
      enumerable: true,
      get: () => {
        read.add(name);
        return get()[name];
      },
    });
  const snapshot = (): State => {
    const now = get();
    if ([...read].some((name) => now[name] !== seen[name])) seen = now;
    return seen;
  };
  return { state: state as State & Others, snapshot };
}
