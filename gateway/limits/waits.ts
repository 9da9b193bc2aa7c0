/**
 * Callers that wait for the answer of a run: so many in all, half of them of one project, so that runs that do not answer
 * keep no other project's callers out. What they do not read is bounded too: when answers that nobody takes are more than the
 * limit, whoever has not read for longest loses the connection.
 */
import type { ServerResponse } from 'node:http';

type Wait = {
  /** To be told when the answer was given: whatever of it the client has not taken is counted until it has. */
  answered: () => void;
};

export type Waits = {
  /** Lets the caller wait until the response is closed; undefined if too many do already. */
  enter: (project: string, response: ServerResponse) => Wait | undefined;
};

export function createWaits({ waiting, unreadBytes }: { waiting: number; unreadBytes: number }): Waits {
  const ofProject = new Map<string, number>();
  const most = Math.ceil(waiting / 2);
  const unread = createUnread(unreadBytes);
  let all = 0;
  return {
    enter: (project, response) => {
      // Whoever has gone takes no place, and would never give it back.
      if (response.destroyed) return { answered: () => undefined };
      const own = ofProject.get(project) ?? 0;
      if (all >= waiting || own >= most) return undefined;
      all += 1;
      ofProject.set(project, own + 1);
      response.once('close', () => {
        unread.remove(response);
        all -= 1;
        const left = (ofProject.get(project) ?? 1) - 1;
        if (left > 0) ofProject.set(project, left);
        else ofProject.delete(project);
      });
      return { answered: () => unread.add(response) };
    },
  };
}

function createUnread(limit: number) {
  const bytesOf = new Map<ServerResponse, number>();
  let total = 0;
  const remove = (response: ServerResponse): void => {
    total -= bytesOf.get(response) ?? 0;
    bytesOf.delete(response);
  };
  return {
    remove,
    add: (response: ServerResponse): void => {
      const bytes = response.writableLength;
      if (bytes === 0 || response.destroyed) return;
      bytesOf.set(response, bytes);
      total += bytes;
      for (const longest of bytesOf.keys()) {
        if (total <= limit) return;
        remove(longest);
        longest.req.socket.destroy();
      }
    },
  };
}
