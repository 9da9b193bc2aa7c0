/**
 * The access log: a line for each request of the public and the internal listener, after its answer. Of requests that went well a share is
 * written; problems are always written, at a bounded rate, so that the `instance` that a caller was shown is found. A line has the pattern of
 * the route and never the path, which may have secrets in it.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createBoundedRate, type RateClock } from '../../api/audit/boundedRate.ts';
import { printable } from '../../api/audit/line.ts';
import type { Addresses } from '../limits/addresses.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { requestId } from './requestId.ts';

/** What a route knows of its request beside what is in it. */
type Note = { workflow?: string; problem?: ProblemCode };

/** A request that has no route, because the parser or the framework refused it. */
type Unrouted = { request: string; status: number; problem: ProblemCode; peer: string | undefined };

export type AccessLog = {
  /** Writes lines about the requests of a listener from now on. */
  follow(app: FastifyInstance, listener: 'public' | 'internal'): void;
  /** Has the line about a request say more. */
  note(request: IncomingMessage, note: Note): void;
  unrouted(refused: Unrouted): void;
  /** Tells what was left out and not told yet. */
  close(): void;
};

export type AccessLogOptions = {
  pod: string;
  /** The share of requests without a problem that is written, 0 to 1. */
  sample: number;
  addresses: Pick<Addresses, 'addressOf'>;
  /** Takes a whole line. */
  write: (line: string) => void;
  clock: RateClock;
  /** A number from 0 to below 1. */
  random?: () => number;
};

const LOGGER = 'windlass.access';
/** Lines a second about problems. */
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
    // Also where the client has gone before the answer was there.
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

/** Of the body; undefined for a stream, whose length nobody has said. */
function sentBytes(reply: FastifyReply): number | undefined {
  const length = Number(reply.getHeader('content-length'));
  return Number.isNaN(length) ? undefined : length;
}
