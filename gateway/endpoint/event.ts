/**
 * Turns a request into an event: the trigger's output as JSON text with the body byte for byte, and the
 * event's dedupe key.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseExact } from '../../api/exact/exactNumber.ts';

/** In characters. */
const MAX_KEY = 1_024;

/**
 * The output of a trigger with this JSON text as `data_content`, unchanged. `headers` are those that nodes
 * may read.
 */
export function eventInput(data: string, headers?: Record<string, string>): string {
  const rest = headers === undefined ? '' : `,"headers":${JSON.stringify(headers)}`;
  return `{"text_content":"","data_content":${data}${rest}}`;
}

/** The output of a trigger from a JSON object with its members. Missing or invalid members are empty. */
export function inputFromOutput(text: string): string {
  const { text_content, data_content = null } = parseExact(text) as Record<string, unknown>;
  return JSON.stringify({
    text_content: typeof text_content === 'string' ? text_content : '',
    data_content,
  });
}

/**
 * The request headers that the workflow admits; undefined if it admits none. Cookies are never admitted:
 * those of a browser belong to the whole host.
 */
export function admittedHeaders(
  headers: IncomingHttpHeaders,
  admitted: readonly string[] | undefined,
): Record<string, string> | undefined {
  if (admitted === undefined || admitted.length === 0) return undefined;
  const found = admitted.flatMap((name): [string, string][] => {
    const value = name === 'cookie' ? undefined : headerText(headers, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

export type EventKey = { outcome: 'none' } | { outcome: 'key'; key: string } | { outcome: 'bad' };

const NO_KEY: EventKey = { outcome: 'none' };

/**
 * The sender's key: the delivery ID of the verified scheme (signed in Standard Webhooks, so that a copy
 * cannot change it), else `Idempotency-Key`, else the header that the workflow names.
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
 * Equal for two requests of the same event: hashes the body, the kind of call, the user if known, whether it
 * is a test run, and the node at which the run stops.
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
  /** The user that the API server authenticated, if any. */
  user?: string | undefined;
  text: string;
}): string {
  // Node IDs never start with a dot or a quote.
  const also = [
    ...(until === undefined ? [] : [until]),
    ...(isOutput === true ? ['.output'] : []),
    ...(user === undefined ? [] : [JSON.stringify(user)]),
  ];
  const kind = [trigger, test, ...also].join(' ');
  return createHash('sha256').update(`${kind}\n`).update(text).digest('hex');
}

function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  // Ignores inherited members such as `constructor`.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}
