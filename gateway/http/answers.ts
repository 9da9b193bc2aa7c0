/** Sends answers: counts them by class of route, and sends every problem in one form. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasMuchToCome, lingerAfterAnswer } from './body.ts';
import type { Log } from '../../kube/log.ts';
import type { Limits } from '../limits/limits.ts';
import type { RefusalReason } from '../limits/refusals.ts';
import type { AccessLog } from './accessLog.ts';
import type { Metrics, RouteClass } from './metrics.ts';
import { PROBLEM_TYPE, problemBody, problemOf, type ProblemCode } from '../contract/problems.ts';
import { requestId } from './requestId.ts';

export type Exchange = { request: FastifyRequest; reply: FastifyReply };

export const JSON_TYPE = 'application/json';

type ProblemOptions = {
  /** The methods that the path accepts. */
  allow?: string;
  /** Seconds until the caller should try again. */
  retryAfter?: number;
  /** The name of a run that was accepted. */
  run?: string;
  /** Sentences after the problem's detail. Must not reveal anything that the caller may not know. */
  more?: string;
};

export type Answers = {
  /** Sends text or bytes. The caller may have set further headers on the reply. */
  send: (reply: FastifyReply, status: number, type: string, body: string | Buffer) => void;
  /** Sends a response without a body. */
  sendEmpty: (reply: FastifyReply, status: 204 | 304) => void;
  problem: (reply: FastifyReply, code: ProblemCode, options?: ProblemOptions) => void;
  /**
   * Sends a problem through the queue of refusals: for refusals that come in floods and must cost less than
   * accepted calls.
   */
  refuse: (reply: FastifyReply, code: ProblemCode, options?: ProblemOptions) => void;
  /** Sends the generic 500 and logs the error with the request's ID. Sends nothing after an answer. */
  unexpected: (reply: FastifyReply, error: unknown) => void;
  /** Counts an answer that was sent otherwise, for example a stream. */
  count: (status: number) => void;
};

/** Problems caused by a limit, with their reason in the metrics. */
const LIMITED: Partial<Record<ProblemCode, RefusalReason>> = {
  'too-large': 'body-size',
  'event-too-large': 'event-size',
  'callback-too-large': 'body-size',
  overloaded: 'in-flight-bytes',
  'too-many-waiting': 'waiting',
  'too-many-chunks': 'body-pieces',
};

export type AnswersDeps = {
  metrics: Pick<Metrics, 'answered'>;
  limits: Pick<Limits, 'refused' | 'unread' | 'refusalQueue'>;
  log: Log;
  /** Aborted when this replica shuts down: from then on each answer closes its connection. */
  draining: AbortSignal;
  accessLog?: AccessLog | undefined;
};

export function createAnswers(deps: AnswersDeps, route: RouteClass): Answers {
  const { metrics, log, draining, limits, accessLog } = deps;
  const answered = metrics.answered(route);

  function send(reply: FastifyReply, status: number, type: string, body: string | Buffer): void {
    count(status);
    if (draining.aborted) reply.header('connection', 'close');
    reply.code(status).header('content-type', type).send(body);
    limits.unread.add(reply.raw);
  }

  function sendEmpty(reply: FastifyReply, status: number): void {
    count(status);
    reply.code(status).send();
  }

  function count(status: number): void {
    answered[status] = (answered[status] ?? 0) + 1;
  }

  function problem(reply: FastifyReply, code: ProblemCode, options: ProblemOptions = {}): void {
    reply.headers({
      'cache-control': 'no-store',
      ...problemOf(code).headers,
      ...(options.retryAfter !== undefined && { 'retry-after': String(options.retryAfter) }),
      ...(options.allow !== undefined && { allow: options.allow }),
    });
    const reason = LIMITED[code];
    if (reason !== undefined) limits.refused[reason] += 1;
    const { raw } = reply.request;
    accessLog?.note(raw, { problem: code });
    if (reason !== undefined || hasMuchToCome(raw)) {
      reply.header('connection', 'close');
      // Waiting for a client that sends single bytes would cost more than the answer is worth.
      if (code !== 'too-many-chunks') lingerAfterAnswer(raw);
    }
    send(reply, problemOf(code).status, PROBLEM_TYPE, problemBody(code, requestId(raw), options));
  }

  function refuse(reply: FastifyReply, code: ProblemCode, options?: ProblemOptions): void {
    limits.refusalQueue.add(() => {
      if (!reply.raw.destroyed && !reply.sent) problem(reply, code, options);
    });
  }

  function unexpected(reply: FastifyReply, error: unknown): void {
    const { raw } = reply.request;
    const instance = requestId(raw);
    log.error({ err: error, instance, route }, 'request failed unexpectedly');
    accessLog?.note(raw, { problem: 'internal' });
    if (reply.sent) return;
    send(reply, 500, PROBLEM_TYPE, problemBody('internal', instance));
  }

  return { send, sendEmpty, problem, refuse, unexpected, count };
}
