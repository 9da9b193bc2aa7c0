/** Reads bodies of authorised callers within the memory that all requests share. */
import { parseJson } from '../../api/json.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Exchange } from '../http/answers.ts';
import { isJsonType, readBody, tooLarge } from '../http/body.ts';
import type { Reservation } from '../limits/inFlight.ts';
import type { Limits } from '../limits/limits.ts';

/** Runs `work` while memory is reserved for the request; `overloaded` if there is none. */
export async function withReservation<T>(
  { inFlight }: Pick<Limits, 'inFlight'>,
  work: (reservation: Reservation) => Promise<T>,
): Promise<T | 'overloaded'> {
  const reservation = inFlight.reserve();
  if (reservation === undefined) return 'overloaded';
  try {
    return await work(reservation);
  } finally {
    reservation.release();
  }
}

type ReadOptions = {
  reservation: Reservation;
  /** Left out: as many as an event may have. */
  maxBytes?: number;
  /** An empty body has the text '' and no value. It needs no type. */
  mayBeEmpty?: boolean;
};

/** The body as JSON, with its text unchanged; undefined if the client disconnected. */
export async function readJsonBody(
  { request: { raw }, reply }: Exchange,
  limits: Limits,
  { reservation, maxBytes, mayBeEmpty = false }: ReadOptions,
): Promise<{ text: string; value: unknown } | ProblemCode | undefined> {
  const limit = maxBytes ?? limits.eventBytes;
  const body = await readBody(raw, reply.raw, { limit, reservation, queue: limits.bodyQueue });
  if (body.outcome === 'aborted') return undefined;
  if (body.outcome === 'too-large') return maxBytes === undefined ? tooLarge(limits) : 'too-large';
  if (body.outcome !== 'read') return body.outcome;
  if (mayBeEmpty && body.bytes.length === 0) return { text: '', value: undefined };
  if (mayBeEmpty && !isJsonType(raw.headers['content-type'])) return 'unsupported-media-type';
  const json = parseJson(body.bytes, limits.json);
  return json.ok ? { text: json.text, value: json.value } : json.code;
}
