/** The answer to who is not let in: the same bytes for every cause, so that nobody learns how near a guess was. */
import type { FastifyReply } from 'fastify';
import type { Answers } from '../http/answers.ts';
import type { Metrics } from '../http/metrics.ts';
import { stopAt, type Door } from '../verify/authPolicy.ts';

/** Answers and returns true if this caller, with this body if it is there yet, is not let in. */
export function isStopped(
  { metrics, answers }: { metrics: Pick<Metrics, 'unverified'>; answers: Answers },
  door: Door,
  reply: FastifyReply,
  body?: Uint8Array,
): boolean {
  const reason = stopAt(door, reply.request.raw, body);
  if (reason === undefined) return false;
  metrics.unverified.inc({ reason });
  if (door.kind === 'guarded' && door.challenge !== undefined)
    reply.header('www-authenticate', door.challenge);
  answers.refuse(reply, reason === 'unavailable' ? 'callers-unverifiable' : 'unverified');
  return true;
}
