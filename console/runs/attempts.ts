/**
 * Guards requests that start a run: one at a time, and each has a key that stays the same until it succeeds,
 * so that neither a double click nor a lost answer starts a second run.
 */

/** Names a request of a person, however often it is sent. */
export type Attempt = {
  id: string;
  /** When it was first sent, in milliseconds since 1970. */
  at: number;
};

export type Attempts = {
  /** Undefined, and nothing is sent, while another request is under way. */
  run: <T>(action: string, request: (attempt: Attempt) => Promise<T>) => Promise<T | undefined>;
};

/** `action` names what is started: a failed request that is sent again for the same one has the same key. */
export function createAttempts(): Attempts {
  const pending = new Map<string, Attempt>();
  let isBusy = false;
  return {
    run: async (action, request) => {
      if (isBusy) return undefined;
      isBusy = true;
      const attempt = pending.get(action) ?? { id: crypto.randomUUID(), at: Date.now() };
      pending.set(action, attempt);
      try {
        const result = await request(attempt);
        pending.delete(action);
        return result;
      } finally {
        isBusy = false;
      }
    },
  };
}
