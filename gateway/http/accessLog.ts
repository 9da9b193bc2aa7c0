/**
 * The access log: one line for each request of the public and internal listener, written after the answer.
 * Successful requests are sampled. Problems are always logged, at a bounded rate, so that their `instance`
 * can be found. A line has the route's pattern, never the path, which may contain secrets.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createBoundedRate, type RateClock } from '../../api/audit/boundedRate.ts';
import { printable } from '../../api/audit/line.ts';
import type { Addresses } from '../limits/addresses.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { requestId } from './requestId.ts';

/** What a route adds to the line of its request. */
type Note = { workflow?: string; problem?: ProblemCode };

/** A request without a route: refused by the parser or the framework. */
type Unrouted = { request: string; status: number; problem: ProblemCode; peer: string | undefined };

export type AccessLog = {
  /** Logs the requests of a listener from now on. */
  follow(app: FastifyInstance, listener: 'public' | 'internal'): void;
  /** Adds to the line of a request. */
  note(request: IncomingMessage, note: Note): void;
  unrouted(refused: Unrouted): void;
  /** Logs how many lines were left out since the last report. */
  close(): void;
};

export type AccessLogOptions = {
  pod: string;
  /** Sampled share of requests without a problem, 0 to 1. */
  sample: number;
  addresses: Pick<Addresses, 'addressOf'>;
  /** Writes a whole line. */
  write: (line: string) => void;
  clock: RateClock;
  /** Returns a number from 0 to below 1. */
  random?: () => number;
};

const LOGGER = 'windlass.access';
/** Lines per second about problems. */
const PROBLEMS = { perSecond: 20, burst: 100 };

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { pod, sample, addresses, write, clock, random = Math.random } = options;
  const notes = new WeakMap<IncomingMessage, Note>();
  const put = (fields: object): void =>
    write(printable({ time: clock.date().toISOString(), name: LOGGER, program: 'gateway', pod, ...fields }));
  const problems = createBoundedRate({
    ...PROBLEMS,
    clock,
    onLeftOut: (leftOut) => put({ leftOut }),
  });

  function isWritten(status: number, problem: ProblemCode | undefined): boolean {
    return problem !== undefined || status >= 500 ? problems.admit() : random() < sample;
  }

  function watch(listener: string, request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const startedAt = clock.now();
    const address = addresses.addressOf(raw.socket.remoteAddress, raw.headers['x-forwarded-for']);
    // Also emitted if the client disconnects before the answer.
    reply.raw.once('close', () => {
      const { statusCode: status, writableFinished } = reply.raw;
      const { workflow, problem } = notes.get(raw) ?? {};
      if (!isWritten(status, problem)) return;
      put({
        listener,
        request: requestId(raw),
        method: raw.method,
        route: request.routeOptions.url ?? '/*',
        ...(reply.raw.headersSent && { status, bytes: sentBytes(reply) }),
        ...(!writableFinished && { aborted: true }),
        durationMs: Math.round((clock.now() - startedAt) * 10) / 10,
        address,
        ...(workflow !== undefined && { project: workflow.slice(0, workflow.indexOf('.')), workflow }),
        problem,
      });
    });
  }

  return {
    follow: (app, listener) => {
      app.addHook('onRequest', (request, reply, done) => {
        watch(listener, request, reply);
        done();
      });
    },
    note: (request, note) => void notes.set(request, { ...notes.get(request), ...note }),
    unrouted: ({ request, status, problem, peer }) => {
      if (!problems.admit()) return;
      put({ request, status, address: addresses.addressOf(peer, undefined), problem });
    },
    close: () => problems.close(),
  };
}

/** Length of the answer's body; undefined for a stream. */
function sentBytes(reply: FastifyReply): number | undefined {
  const length = Number(reply.getHeader('content-length'));
  return Number.isNaN(length) ? undefined : length;
}
