/**
 * The same question of many at the same time, asked once. Whoever asks while it is being asked gets the next answer, since the one
 * that is under way may be older than what they have heard.
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
