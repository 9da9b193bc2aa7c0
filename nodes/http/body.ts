/**
 * Reads bodies of answers. Guarantees that no more than a bound is read and kept in memory, also of
 * compressed bodies and of those that never end.
 */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { connectionFailure, Failure } from '../contract/failure.ts';
import type { HttpAnswer } from './request.ts';

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Leaves the rest of the answer unread, and closes its connection. */
export function drop({ body }: Pick<HttpAnswer, 'body'>): void {
  body.on('error', () => undefined).destroy();
}

/**
 * The body, uncompressed; undefined where it has more than `most` bytes, of which no more is read.
 * @throws Failure
 */
export async function readUpTo(answer: HttpAnswer, most: number): Promise<Buffer | undefined> {
  if (isEmpty(answer)) {
    answer.body.on('error', () => undefined).resume();
    return Buffer.alloc(0);
  }
  if (Number(answer.headers['content-length'] ?? 0) > most) {
    drop(answer);
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of uncompressed(answer)) {
      bytes += chunk.length;
      if (bytes > most) return undefined;
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Failure ? error : connectionFailure(error, answer.asked);
  }
  return Buffer.concat(chunks);
}

/**
 * The beginning of the body, at least `enough` bytes where it has as many. What cannot be read is left out.
 */
export async function readStart(answer: HttpAnswer, enough: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of uncompressed(answer)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= enough) break;
    }
  } catch {
    // The status says more than the body.
  }
  return Buffer.concat(chunks);
}

/** The failure of an answer with more bytes than are read. */
export function tooLarge({ host }: Pick<HttpAnswer, 'host'>, most: number): Failure {
  return new Failure('TooLarge', `${host} answered with more than ${most} bytes: request less`);
}

/** The failure of an answer with a success status and a body that does not fit. */
export function unreadable({ host, asked, status }: HttpAnswer): Failure {
  return new Failure('InvalidAnswer', `${host} answered with an invalid body`, {
    status,
    isInDoubt: asked.mayChange,
  });
}

/** Bodies that do not exist cannot be uncompressed. The headers of HEAD describe a body that is not sent. */
function isEmpty({ status, headers, request }: HttpAnswer): boolean {
  return status === 204 || status === 304 || headers['content-length'] === '0' || request.method === 'HEAD';
}

/** Stops reading when its consumer stops. */
async function* uncompressed(answer: HttpAnswer): AsyncGenerator<Buffer> {
  const { body, headers, host, isCompressible } = answer;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const open = isCompressible ? DECODERS[encoding as keyof typeof DECODERS] : undefined;
  if (!open) {
    yield* body as AsyncIterable<Buffer>;
    return;
  }
  const decoder = open();
  let lost: unknown;
  body.on('error', (error) => {
    lost = error;
    decoder.destroy(error);
  });
  try {
    yield* body.pipe(decoder) as AsyncIterable<Buffer>;
  } catch {
    if (lost !== undefined) throw lost;
    throw new Failure('InvalidAnswer', `the answer of ${host} cannot be uncompressed`);
  } finally {
    decoder.destroy();
  }
}
