/**
 * A request as an event: the trigger's output as JSON text with the body in it byte for byte, and the key that tells
 * one event from another.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The longest key of an event, in characters. */
const MAX_KEY = 1_024;

/** The output of a trigger whose data is the JSON text given, unchanged. `headers` are those that nodes may read. */
export function eventInput(data: string, headers?: Record<string, string>): string {
  const rest = headers === undefined ? '' : `,"headers":${JSON.stringify(headers)}`;
  return `{"text_content":"","data_content":${data}${rest}}`;
}

/** The output of a trigger of which the JSON object given says all. What is missing, or no text where there must be one, is empty. */
export function outputInput(text: string): string {
  const { text_content, data_content = null } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify({
    text_content: typeof text_content === 'string' ? text_content : '',
    data_content,
  });
}

/** Those of the request's headers that the workflow admits; undefined if it admits none. */
export function admittedHeaders(
  headers: IncomingHttpHeaders,
  admitted: readonly string[] | undefined,
): Record<string, string> | undefined {
  if (admitted === undefined || admitted.length === 0) return undefined;
  const found = admitted.flatMap((name): [string, string][] => {
    const value = headerText(headers, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

export type EventKey = { outcome: 'none' } | { outcome: 'key'; key: string } | { outcome: 'bad' };

const NO_KEY: EventKey = { outcome: 'none' };

/**
 * The key that the sender gave: the delivery id of the scheme that the caller was verified by (which with Standard Webhooks
 * is signed, so that nobody can give a copy another one), else `Idempotency-Key`, else the header that the workflow names.
 */
export function eventKey(
  headers: IncomingHttpHeaders,
  named: { delivery?: string | undefined; dedupe?: string | undefined } = {},
): EventKey {
  const text = (name: string | undefined) => (name === undefined ? undefined : headerText(headers, name));
  const key = text(named.delivery) ?? text('idempotency-key') ?? text(named.dedupe);
  if (key === undefined) return NO_KEY;
  return key.length === 0 || key.length > MAX_KEY ? { outcome: 'bad' } : { outcome: 'key', key };
}

/**
 * What two requests with the same key must have in common: the body and what it is, what it was sent to, by whom where that is known,
 * whether it is a test, and how far it goes.
 */
export function eventHash({
  trigger,
  test,
  until,
  isOutput,
  user,
  text,
}: {
  trigger: string;
  test: boolean;
  until?: string | undefined;
  isOutput?: boolean | undefined;
  /** Who sent it, where the API server says. */
  user?: string | undefined;
  text: string;
}): string {
  // No id of a node begins with a dot or a quote.
  const also = [
    ...(until === undefined ? [] : [until]),
    ...(isOutput === true ? ['.output'] : []),
    ...(user === undefined ? [] : [JSON.stringify(user)]),
  ];
  const kind = [trigger, test, ...also].join(' ');
  return createHash('sha256').update(`${kind}\n`).update(text).digest('hex');
}

function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  // Headers are an object like any other, which inherits a `constructor`.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}
