/**
 * The ID of a request: `instance` in its problem, `request` in logs. Created on first use, so that a request
 * without a log line costs nothing.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ids = new WeakMap<IncomingMessage, string>();

/** Returns the same ID for the same request. */
export function requestId(request: IncomingMessage): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = newRequestId();
  ids.set(request, id);
  return id;
}

/** An ID for bytes that the parser refused. */
export function newRequestId(): string {
  return `urn:uuid:${randomUUID()}`;
}
