/**
 * The body of a request: what it must be declared as, judged from the headers alone, and its bytes, of which never more
 * than the limit are kept.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Reservation } from '../limits/inFlight.ts';
import type { Limits } from '../limits/limits.ts';
import type { PacedQueue } from '../limits/pacedQueue.ts';

export type BodyRefusal = 'unsupported-media-type' | 'too-large' | 'event-too-large' | 'overloaded';

const MAX_CACHED_TYPES = 64;
const knownTypes = new Map<string, boolean>();

/** Refuses what is not declared as JSON in UTF-8, what is compressed, and what says to be longer than there is room for. */
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

/** Whether a body comes with the request at all (RFC 9112, section 6.3). */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The length of the body as the headers tell it; undefined for one that comes in chunks. */
export function announcedLength(headers: IncomingHttpHeaders): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}

/** `application/json` or a `+json` type, with no charset or with UTF-8. Senders use few spellings: each is read once. */
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
 * How many pieces a body may come in: some, and one more for each so many bytes. Each costs what a request costs, so that
 * half a mebibyte in chunks of one byte would keep a processor busy for a second.
 */
const FREE_PIECES = 1_024;
const LEAST_PIECE = 64;
/** The least that is set aside for a body that comes in pieces. */
const FIRST_ROOM = 4_096;
/** So much of a body is read as it comes, which is all of most. */
const UNPACED = 16_384;

type Reading = { limit: number; reservation: Reservation; queue: PacedQueue };

/**
 * Reads the body, as far as `reservation` grants room for it. A caller that waits for "100 Continue" is told now, not before its
 * headers were judged. Beyond the limit reading stops: the answer must close the connection, since the rest of the body
 * is still to come. Of large bodies one piece is read in one of the `queue`.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, reservation, queue }: Reading,
): Promise<Body> {
  if (request.destroyed) return Promise.resolve({ outcome: 'aborted' });
  // In HTTP/1.0 there is no such answer (RFC 9110, section 10.1.1).
  if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();
  // No more comes than was announced, so no more room is taken.
  const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  const largest = Math.min(limit, announced);
  const pace = createPace(request, queue);
  return new Promise((resolve) => {
    let bytes: Buffer = NOTHING;
    let length = 0;
    let pieces = 0;
    let isRead = false;
    /** Whatever still comes of it, its end too, finds nothing. */
    const letGo = (): void => {
      free(bytes);
      [bytes, length] = [NOTHING, 0];
    };
    const stop = (outcome: 'too-large' | 'overloaded' | 'too-many-chunks'): void => {
      request.removeAllListeners('data');
      pace.end();
      // What still comes in pieces is dropped as it comes: kept, each would take more room than it has bytes.
      if (outcome === 'too-many-chunks') request.resume();
      else request.pause();
      letGo();
      resolve({ outcome });
    };
    request.on('data', (chunk: Buffer) => {
      const total = length + chunk.length;
      pieces += 1;
      if (total > limit) return stop('too-large');
      if (pieces > FREE_PIECES + total / LEAST_PIECE) return stop('too-many-chunks');
      if (length === 0 && reservation.growTo(total)) bytes = chunk;
      else {
        // Pieces are put together as they come: kept apart, bytes that come one by one would take a hundred times their room.
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
      // It comes also after 'end'.
      if (!isRead) letGo();
      resolve({ outcome: 'aborted' });
    });
    request.on('error', () => resolve({ outcome: 'aborted' }));
  });
}

/**
 * Lets what comes of a body wait for its turn: each piece costs as much as several requests, and thousands of bodies may come at
 * once. It waits in the connection. A stream that is paused still reads ahead, for each body as much as a piece.
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

/** What a body that outgrew its limit while it came in is told. */
export function tooLarge({ settings, eventBytes }: Pick<Limits, 'settings' | 'eventBytes'>): BodyRefusal {
  return settings.bodyBytes > eventBytes ? 'event-too-large' : 'too-large';
}

/**
 * Gives memory back now, which nobody uses any more: the collector, which sees little of what lies outside of its heap, would
 * let hundreds of mebibytes gather.
 */
function free(bytes: Buffer): void {
  const buffer = bytes.buffer as ArrayBuffer;
  // What is a part of something larger belongs to others too.
  if (bytes.length > 0 && bytes.length === buffer.byteLength) buffer.transfer(0);
}

type Growth = { length: number; total: number; largest: number; reservation: Reservation };

/** A buffer with what is in the old one and room for the new total; undefined if there is no room. */
function moreRoom(bytes: Buffer, { length, total, largest, reservation }: Growth): Buffer | undefined {
  const size = Math.max(total, Math.min(Math.max(bytes.length * 2, FIRST_ROOM), largest));
  if (!reservation.growTo(size)) return undefined;
  const roomy = Buffer.allocUnsafeSlow(size);
  bytes.copy(roomy, 0, 0, length);
  return roomy;
}

/** A body that is not read is passed over up to this length, so that the connection can be used again. */
const PASSED_OVER = 65_536;

/** Whether so much of the body is still to come that it is not worth the connection. */
export function hasMuchToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > PASSED_OVER;
}

/** Long enough for a client that is still sending to read why it should stop; and how many of them may be there. */
const LINGER_MS = 1_000;
const MAX_LINGERING = 500;
const lingering = new Set<Socket>();

/**
 * Lets the connection linger after the answer, unread: to close at once while the body is still coming in would reset the
 * connection, and the client would see that instead of the answer (RFC 9112, section 9.6).
 */
export function lingerAfterAnswer(request: IncomingMessage): void {
  const { socket } = request;
  // Of several requests of a connection each may be refused; and whoever has gone would take a place for ever.
  if (socket.destroyed || lingering.has(socket) || lingering.size >= MAX_LINGERING) return;
  lingering.add(socket);
  let timer: NodeJS.Timeout | undefined;
  socket.once('close', () => {
    lingering.delete(socket);
    // A timer that is left would keep what belongs to the connection for its second, and thousands may come in one.
    clearTimeout(timer);
  });
  socket.destroySoon = () => {
    // What was read of the body already is let go, and nothing more is read: thousands may linger at once.
    request._read = () => undefined;
    request.resume();
    socket.pause();
    socket.end();
    timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
