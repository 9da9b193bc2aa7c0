/**
 * One watch: its bound in time, and its wire form, one JSON object a line (Kubernetes API concepts,
 * "Efficient detection of changes").
 */
import type { Caller } from './caller.ts';
import { ApiError } from './errors.ts';
import { collectionPath, withQuery } from './paths.ts';
import type { KubeObject, Resource } from './resource.ts';
import type { StatusBody } from './transport.ts';

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; resourceVersion: string };

export type WatchOptions = {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  /** After this time the server ends the watch. If it has not 3 s later, the watch throws `WatchStalled`. */
  timeoutSeconds: number;
};

/** The reason of the ApiError of a watch that the server did not end in time: its connection is dead. */
export const watchStalled = 'WatchStalled';
const graceMs = 3_000;

/**
 * Events until the server ends the watch or the signal is aborted. Throws an ApiError for everything else.
 */
export async function* openWatch<T extends KubeObject>(
  caller: Caller,
  resource: Resource<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  const overdue = new AbortController();
  const stopDeadline = startDeadline(options.timeoutSeconds * 1_000 + graceMs, graceMs, () =>
    overdue.abort(stalledError(resource)),
  );
  try {
    const stream = await caller.stream({
      verb: 'watch',
      resource: resource.plural,
      method: 'GET',
      path: watchPath(resource, options),
      idempotent: true,
      options: { signal: AbortSignal.any([signal, overdue.signal]) },
    });
    for await (const line of lines(stream)) {
      const event = parseEvent(line) as WatchEvent<T> | undefined;
      if (event !== undefined) yield event;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stopDeadline();
  }
}

/**
 * Calls `act` after `ms`. A timer that fires late shows that this process stood still, for example because
 * its CPU is limited, and has not read yet what the server sent: then there are `againMs` more. Returns what
 * stops it.
 */
export function startDeadline(
  ms: number,
  againMs: number,
  act: () => void,
  now: () => number = () => performance.now(),
): () => void {
  let timer: NodeJS.Timeout;
  const arm = (delay: number): void => {
    const due = now() + delay;
    timer = setTimeout(() => (now() - due > againMs / 6 ? arm(againMs) : act()), delay);
  };
  arm(ms);
  return () => clearTimeout(timer);
}

function watchPath(resource: Resource, options: WatchOptions): string {
  return withQuery(collectionPath(resource, options.namespace), {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(options.timeoutSeconds),
    resourceVersion: options.resourceVersion,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
  });
}

function stalledError(resource: Resource): ApiError {
  return new ApiError({
    status: 0,
    reason: watchStalled,
    message: `The watch of ${resource.plural} went silent`,
  });
}

type WireEvent = { type: string; object: KubeObject & StatusBody };

/** Splits a stream into lines; a last line that is not ended is dropped, since it was cut off. */
export async function* lines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = rest + text.slice(start, end);
      rest = '';
      start = end + 1;
      if (line !== '') yield line;
    }
    rest += text.slice(start);
  }
}

/**
 * One event. Throws an ApiError for an ERROR event and for what is no event; undefined for a type not known
 * here.
 */
export function parseEvent(line: string): WatchEvent<KubeObject> | undefined {
  const { type, object } = parseLine(line);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object };
    case 'BOOKMARK':
      return { type, resourceVersion: object.metadata.resourceVersion ?? '' };
    case 'ERROR':
      throw statusError(object);
    default:
      return undefined;
  }
}

function parseLine(line: string): WireEvent {
  try {
    const event = JSON.parse(line) as WireEvent;
    if (typeof event.object === 'object' && event.object !== null) return event;
  } catch {
    // Reported below: whatever it is, it is no event.
  }
  throw new ApiError({
    status: 0,
    reason: 'BadWatchEvent',
    message: 'The watch sent a line that is no event',
  });
}

function statusError(status: StatusBody): ApiError {
  const seconds = status.details?.retryAfterSeconds;
  return new ApiError({
    status: status.code ?? 500,
    reason: status.reason ?? '',
    message: `The watch ended with an error: ${status.message ?? status.reason ?? 'without a message'}`,
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
  });
}
