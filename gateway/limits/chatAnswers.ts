/**
 * How many callers wait for answers of chats: of one session, and of one client address. A repeated message
 * costs no run and no budget, and a message whose run is queued costs none for a while: without these limits
 * one client could take all places of a project for callers that wait.
 */
import type { ServerResponse } from 'node:http';

export type ChatAnswers = {
  /**
   * Counts the response until it is closed; false if too many of the client wait. Beyond the limit of a
   * session its oldest one is interrupted.
   */
  enter: (session: string, address: string, response: ServerResponse) => boolean;
};

/** Some tabs of one conversation, or connections that broke and have not been noticed yet. */
const MOST_OF_SESSION = 4;
/** The part of all places that one client gets: an eighth of those of a project. */
const PART_OF_ADDRESS = 1 / 16;

export function createChatAnswers(places: number): ChatAnswers {
  const sessions = new Map<string, Set<ServerResponse>>();
  const addresses = new Map<string, Set<ServerResponse>>();
  const mostOfAddress = Math.ceil(places * PART_OF_ADDRESS);
  return {
    enter: (session, address, response) => {
      if (response.destroyed) return true;
      if ((addresses.get(address)?.size ?? 0) >= mostOfAddress) return false;
      add(addresses, address, response);
      const own = add(sessions, session, response);
      const [oldest] = own;
      if (own.size > MOST_OF_SESSION && oldest !== undefined) {
        own.delete(oldest);
        oldest.req.socket.destroy();
      }
      return true;
    },
  };
}

/** Adds the response until it is closed. Returns all of the key. */
function add(
  open: Map<string, Set<ServerResponse>>,
  key: string,
  response: ServerResponse,
): Set<ServerResponse> {
  const own = open.get(key) ?? new Set();
  open.set(key, own.add(response));
  response.once('close', () => {
    own.delete(response);
    if (own.size === 0) open.delete(key);
  });
  return own;
}
