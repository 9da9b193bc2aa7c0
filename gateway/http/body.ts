/** Request bodies: checks of the headers before anything is read, and reading with bounded memory. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Reservation } from '../limits/inFlight.ts';
import type { Limits } from '../limits/limits.ts';
import type { PacedQueue } from '../limits/pacedQueue.ts';

export type BodyRefusal = 'unsupported-media-type' | 'too-large' | 'event-too-large' | 'overloaded';

const MAX_CACHED_TYPES = 64;
const knownTypes = new Map<string, boolean>();

/**
 * Refuses bodies that are not declared as JSON in UTF-8, are compressed, or announce more bytes than there is
 * room for.
 */
export function refuseByHeaders(
  headers: IncomingHttpHeaders,
  { settings, eventBytes, inFlight }: Pick<Limits, 'settings' | 'eventBytes' | 'inFlight'>,
): BodyRefusal | undefined {
  if (headers['content-encoding'] !== undefined || !isJsonType(headers['content-type'])) {
    return 'unsupported-media-type';
  }
  const length = Number(headers['content-length'] ?? 0);
  if (length > settings.bodyBytes) return 'too-large';
  if (length > eventBytes) return 'event-too-large';
  return inFlight.fits(length) ? undefined : 'overloaded';
}

/** Whether the request has a body (RFC 9112, section 6.3). */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The announced length; undefined for a chunked body. */
export function announcedLength(headers: IncomingHttpHeaders): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}

/**
 * Whether the type is `application/json` or `+json`, without charset or in UTF-8. Results are cached: senders
 * use few spellings.
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const known = knownTypes.get(contentType);
  if (known !== undefined) return known;
  const verdict = readType(contentType);
  if (knownTypes.size < MAX_CACHED_TYPES) knownTypes.set(contentType, verdict);
  return verdict;
}

function readType(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (!/^(application\/json|[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.+-]+\+json)$/.test(type.trim())) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^"?utf-8"?$/.test(value.trim());
  });
}

export type Body =
  | { outcome: 'read'; bytes: Uint8Array }
  | { outcome: 'too-large' }
  | { outcome: 'overloaded' }
  | { outcome: 'too-many-chunks' }
  | { outcome: 'aborted' };

const NOTHING = Buffer.alloc(0);
/**
 * How many pieces a body may come in: a base, and one more for each LEAST_PIECE bytes. Each piece costs as
 * much as a request: 512 KiB in single bytes would occupy a processor for a second.
 */
const FREE_PIECES = 1_024;
const LEAST_PIECE = 64;
/** The smallest buffer for a body that comes in pieces. */
const FIRST_ROOM = 4_096;
/** Up to here a body is read without waiting. Most bodies are shorter. */
const UNPACED = 16_384;

type Reading = { limit: number; reservation: Reservation; queue: PacedQueue };

/**
 * Reads the body as far as `reservation` grants memory. Sends "100 Continue" to a client that waits for it:
 * only now, after its headers were checked. Stops at the limit; the answer must then close the connection,
 * since the rest of the body is still to come. Pieces of large bodies wait in `queue`.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, reservation, queue }: Reading,
): Promise<Body> {
  if (request.destroyed) return Promise.resolve({ outcome: 'aborted' });
  // HTTP/1.0 has no such answer (RFC 9110, section 10.1.1).
  if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();
  // A body is never longer than announced: reserve no more.
  const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  const largest = Math.min(limit, announced);
  const pace = createPace(request, queue);
  return new Promise((resolve) => {
    let bytes: Buffer = NOTHING;
    let length = 0;
    let pieces = 0;
    let isRead = false;
    /** Drops the bytes. Later events of the request find none. */
    const dropBytes = (): void => {
      free(bytes);
      [bytes, length] = [NOTHING, 0];
    };
    const stop = (outcome: 'too-large' | 'overloaded' | 'too-many-chunks'): void => {
      request.removeAllListeners('data');
      pace.end();
      // Further pieces are dropped as they arrive: buffered, each would take more memory than it has bytes.
      if (outcome === 'too-many-chunks') request.resume();
      else request.pause();
      dropBytes();
      resolve({ outcome });
    };
    request.on('data', (chunk: Buffer) => {
      const total = length + chunk.length;
      pieces += 1;
      if (total > limit) return stop('too-large');
      if (pieces > FREE_PIECES + total / LEAST_PIECE) return stop('too-many-chunks');
      if (length === 0 && reservation.growTo(total)) bytes = chunk;
      else {
        // Pieces are joined as they arrive: kept apart, single bytes would take a hundred times their memory.
        const roomy =
          total <= bytes.length ? bytes : moreRoom(bytes, { length, total, largest, reservation });
        if (roomy === undefined) return stop('overloaded');
        chunk.copy(roomy, length);
        free(chunk);
        if (roomy !== bytes) free(bytes);
        bytes = roomy;
      }
      length = total;
      if (total >= UNPACED && total < announced) pace.wait();
    });
    request.on('end', () => {
      isRead = true;
      pace.end();
      resolve({ outcome: 'read', bytes: length === bytes.length ? bytes : bytes.subarray(0, length) });
    });
    request.on('close', () => {
      // Emitted after 'end', too.
      if (!isRead) dropBytes();
      resolve({ outcome: 'aborted' });
    });
    request.on('error', () => resolve({ outcome: 'aborted' }));
  });
}

/**
 * Makes the pieces of a body wait in the queue: each costs as much as several requests, and thousands of
 * bodies may arrive at once. The bytes wait in the connection; a paused stream still reads one piece ahead.
 */
function createPace(request: IncomingMessage, queue: PacedQueue): { wait: () => void; end: () => void } {
  const { socket } = request;
  let isWaiting = false;
  const end = (): void => {
    if (!isWaiting) return;
    isWaiting = false;
    socket.resume();
  };
  const wait = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    request._read = () => undefined;
    socket.pause();
    queue.add(end);
  };
  return { wait, end };
}

/** The problem of a body that exceeded its limit while it was read. */
export function tooLarge({ settings, eventBytes }: Pick<Limits, 'settings' | 'eventBytes'>): BodyRefusal {
  return settings.bodyBytes > eventBytes ? 'event-too-large' : 'too-large';
}

/**
 * Frees memory at once. The garbage collector sees little of memory outside its heap and would let hundreds
 * of mebibytes accumulate.
 */
function free(bytes: Buffer): void {
  const buffer = bytes.buffer as ArrayBuffer;
  // A slice of a larger buffer is shared with others.
  if (bytes.length > 0 && bytes.length === buffer.byteLength) buffer.transfer(0);
}

type Growth = { length: number; total: number; largest: number; reservation: Reservation };

/** A larger buffer with the same content; undefined if the memory cannot be reserved. */
function moreRoom(bytes: Buffer, { length, total, largest, reservation }: Growth): Buffer | undefined {
  const size = Math.max(total, Math.min(Math.max(bytes.length * 2, FIRST_ROOM), largest));
  if (!reservation.growTo(size)) return undefined;
  const roomy = Buffer.allocUnsafeSlow(size);
  bytes.copy(roomy, 0, 0, length);
  return roomy;
}

/** Up to this length an unread body is skipped, so that the connection can be reused. */
const PASSED_OVER = 65_536;

/** Whether the unread rest of the body costs more than a new connection. */
export function hasMuchToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > PASSED_OVER;
}

/** Long enough for a sending client to read the answer; and how many connections may linger. */
const LINGER_MS = 1_000;
const MAX_LINGERING = 500;
const lingering = new Set<Socket>();

/**
 * Keeps the connection open, unread, after the answer. Closing it while the body still arrives would reset
 * the connection, and the client would see that instead of the answer (RFC 9112, section 9.6).
 */
export function lingerAfterAnswer(request: IncomingMessage): void {
  const { socket } = request;
  // Several requests of one connection may be refused, and a closed connection would keep its place for ever.
  if (socket.destroyed || lingering.has(socket) || lingering.size >= MAX_LINGERING) return;
  lingering.add(socket);
  let timer: NodeJS.Timeout | undefined;
  socket.once('close', () => {
    lingering.delete(socket);
    // A pending timer would retain the connection's memory for a second.
    clearTimeout(timer);
  });
  socket.destroySoon = () => {
    // Drops what was read and stops reading: thousands may linger at once.
    request._read = () => undefined;
    request.resume();
    socket.pause();
    socket.end();
    timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
