/** Records which parts of a changing state a component reads, so that it redraws only for those. Pure. */

/**
 * `state` has a getter for each part of the current state, and the members of `others`. `snapshot` returns
 * a new object after a part changed that was read from `state`, and the same object otherwise. `get` must
 * return objects with the same keys each time.
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
