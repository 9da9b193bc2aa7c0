/**
 * Guards requests that start a run: one at a time, and each has a key that stays the same until it succeeds,
 * so that neither a double click nor a lost answer starts a second run.
 */

/** Names a request of a person, however often it is sent. */
export type StartRequest = {
  id: string;
  /** When it was first sent, in milliseconds since 1970. */
  at: number;
};

export type StartRequests = {
  /** Undefined, and nothing is sent, while another request is under way. */
  run: <T>(action: string, request: (sent: StartRequest) => Promise<T>) => Promise<T | undefined>;
};

/** `action` names what is started: a failed request that is sent again for the same one has the same key. */
export function createStartRequests(): StartRequests {
  const pending = new Map<string, StartRequest>();
  let isBusy = false;
  return {
    run: async (action, request) => {
      if (isBusy) return undefined;
      isBusy = true;
      const sent = pending.get(action) ?? { id: crypto.randomUUID(), at: Date.now() };
      pending.set(action, sent);
      try {
        const result = await request(sent);
        pending.delete(action);
        return result;
      } finally {
        isBusy = false;
      }
    },
  };
}
