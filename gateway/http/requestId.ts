/**
 * The name of a request: what its problem calls `instance`, and the lines about it in the logs call `request`. It is made when it is first
 * needed, so that a request that nobody writes about costs nothing.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ids = new WeakMap<IncomingMessage, string>();

/** The same for each call with the same request. */
export function requestId(request: IncomingMessage): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = newRequestId();
  ids.set(request, id);
  return id;
}

/** For what is no request, because the parser refused it. */
export function newRequestId(): string {
  return `urn:uuid:${randomUUID()}`;
}
