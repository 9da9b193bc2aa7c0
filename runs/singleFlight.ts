/**
 * Single flight: concurrent callers of one question share its answer. A call during one in progress gets the
 * next answer, because the one in progress may be older than what the caller knows.
 */
export type SingleFlight<T> = (key: string, ask: () => Promise<T>) => Promise<T>;

type Asked<T> = { now: Promise<T>; next?: Promise<T> };

export function createSingleFlight<T>(): SingleFlight<T> {
  const asked = new Map<string, Asked<T>>();
  const begin = (key: string, ask: () => Promise<T>): Promise<T> => {
    const now = ask();
    const entry: Asked<T> = { now };
    asked.set(key, entry);
    const end = () => {
      if (entry.next === undefined) asked.delete(key);
    };
    now.then(end, end);
    return now;
  };
  return (key, ask) => {
    const entry = asked.get(key);
    if (entry === undefined) return begin(key, ask);
    const again = () => begin(key, ask);
    entry.next ??= entry.now.then(again, again);
    return entry.next;
  };
}
