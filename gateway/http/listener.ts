/**
 * A listener before it listens. All listeners bound slow, large and malformed requests alike, and answer every error with a problem, also
 * those of the HTTP parser.
 */
import { METHODS, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ServerCertificate } from '../../kube/certificateFiles.ts';
import { PROBLEM_TYPE, problemBody, problemOf, type ProblemCode } from '../contract/problems.ts';
import { closeWithResponse, limitConnections, type Connections } from '../limits/connections.ts';
import type { Limits } from '../limits/limits.ts';
import type { RefusalReason, Refusals } from '../limits/refusals.ts';
import type { LimitSettings } from '../limits/settings.ts';
import { createTLSServer } from '../tls/server.ts';
import type { AccessLog } from './accessLog.ts';
import { createAnswers, type Answers, type AnswersDeps } from './answers.ts';
import type { Metrics } from './metrics.ts';
import {
  isMalformed,
  isUnsupportedExpectation,
  rejectUnknownMethod,
  originForm,
  routableUrl,
} from './protocol.ts';
import { newRequestId, requestId } from './requestId.ts';

/** The longest address. */
const MAX_URL = 8_192;
/** Nothing was sent and nothing was read for this long: above the longest wait for a run, so that no answer is cut off. */
const SILENCE_MS = 330_000;

function listenerOptions({ requestSeconds, idleSeconds, headersSeconds, headerBytes }: LimitSettings) {
  return {
    requestTimeout: requestSeconds * 1_000,
    keepAliveTimeout: idleSeconds * 1_000,
    connectionTimeout: SILENCE_MS,
    http: {
      headersTimeout: Math.min(headersSeconds, requestSeconds) * 1_000,
      maxHeaderSize: headerBytes,
      connectionsCheckingInterval: 1_000,
      // Ours tells it as a problem.
      requireHostHeader: false,
      // As shipped, the second of two is dropped without a word: others may read that one.
      joinDuplicateHeaders: true,
    },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_URL },
    rewriteUrl: (request: FastifyRequest['raw']) => {
      rejectUnknownMethod(request);
      const { url = '' } = request;
      return routableUrl(url.startsWith('/') ? url : originForm(url));
    },
  };
}

/** Over TLS a connection takes three times the memory: 67 KiB were measured, of 21 without. */
function halveForTLS({ connections, connectionsPerAddress }: LimitSettings) {
  return {
    connections: Math.ceil(connections / 2),
    connectionsPerAddress: Math.ceil(connectionsPerAddress / 2),
  };
}

export type OnRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

export type ListenerDeps = AnswersDeps & {
  limits: Limits;
  metrics: Pick<Metrics, 'connections'>;
};

type ListenerOptions = {
  /** Left out: it has no access log. */
  listener?: 'public' | 'internal';
  admit?: OnRequest | undefined;
  certificate?: ServerCertificate | undefined;
};

export function createListener(
  deps: ListenerDeps,
  { listener, admit, certificate }: ListenerOptions = {},
): FastifyInstance {
  const answers = createAnswers(deps, 'other');
  const { settings, addresses, refused } = deps.limits;
  const accessLog = listener && deps.accessLog;
  const options = listenerOptions(settings);
  const app = fastify({
    ...options,
    ...(certificate && {
      serverFactory: (handler: RequestListener) => createTLSServer(handler, options, certificate),
    }),
    frameworkErrors: (_error, { raw }, reply: FastifyReply) => {
      answers.problem(reply, 'not-found');
      const peer = raw.socket.remoteAddress;
      accessLog?.unrouted({ request: requestId(raw), status: 404, problem: 'not-found', peer });
    },
    clientErrorHandler: (error, socket) =>
      answerParserError(error, socket, { refused, connections, accessLog }),
  });
  // The size of the headers listenerOptions their number. As shipped, the parser drops those beyond 2,000 without a word.
  app.server.maxHeadersCount = 0;
  const connections = limitConnections(app.server, {
    ...settings,
    ...(certificate && halveForTLS(settings)),
    isProxy: addresses.isProxy,
    clientOf: (address) => addresses.clientOf(address, undefined),
    refused,
    refusal: () => rawProblem('too-many-connections', { accessLog }),
  });
  deps.metrics.connections.push(connections.open);
  deps.draining.addEventListener('abort', connections.drain, { once: true });
  // Bodies are read by the routes, after their own checks: to the framework no method has one, and it judges no type of any.
  for (const method of METHODS) {
    if (method !== 'CONNECT') app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  if (listener !== undefined) deps.accessLog?.follow(app, listener);
  app.addHook('onRequest', refuseMalformed(answers, connections));
  if (certificate !== undefined) app.addHook('onRequest', setForwardedProto);
  if (admit !== undefined) app.addHook('onRequest', admit);
  app.setErrorHandler((error, _request, reply) => answers.unexpected(reply, error));
  app.all('/*', { onRequest: (_request, reply) => answers.refuse(reply, 'not-found') }, () => undefined);
  // Otherwise the parser says "100 Continue" before the headers were judged, and refuses other expectations in its own words.
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response));
  }
  // A tunnel has no answer of the usual kind, and no listener would mean no answer at all.
  app.server.on('connect', (_request, duplex) => {
    const socket = duplex as Socket;
    refused.malformed += 1;
    if (!connections.markMalformed(socket))
      closeWithResponse(socket, rawProblem('bad-request', { accessLog, socket }));
  });
  return app;
}

/** By which scheme a browser came is read from this header. A proxy before us knows better than this connection. */
const setForwardedProto: OnRequest = ({ raw }, _reply, done) => {
  raw.headers['x-forwarded-proto'] ??= 'https';
  done();
};

function refuseMalformed(answers: Answers, connections: Connections): OnRequest {
  return (request, reply, done) => {
    const { url = '' } = request.raw;
    // What came after an answer that ended the connection is not looked at (RFC 9112, section 9.6).
    if (!connections.beginRequest(request.raw, reply.raw)) reply.hijack();
    else if (url.length > MAX_URL) answers.problem(reply, 'uri-too-long');
    else if (isMalformed(request.raw)) {
      reply.header('connection', 'close');
      answers.problem(reply, 'bad-request');
    } else if (isUnsupportedExpectation(request.raw)) answers.problem(reply, 'expectation-failed');
    else done();
  };
}

const PARSER_PROBLEMS: Record<string, { code: ProblemCode; reason: RefusalReason }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', reason: 'time' },
  HPE_HEADER_OVERFLOW: { code: 'headers-too-large', reason: 'header-size' },
};
const MALFORMED = { code: 'bad-request', reason: 'malformed' } as const;

type ParserErrorDeps = { refused: Refusals; connections: Connections; accessLog: AccessLog | undefined };

/** What is no HTTP gets one answer and the end of its connection, since what follows cannot be told apart. */
function answerParserError(
  error: Error & { code?: string },
  socket: Socket,
  { refused, connections, accessLog }: ParserErrorDeps,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Whoever has not finished a handshake could not read an answer.
  if (socket instanceof TLSSocket && !connections.has(socket)) {
    refused['tls-handshake'] += 1;
    socket.destroy();
    return;
  }
  const { code, reason } = PARSER_PROBLEMS[error.code ?? ''] ?? MALFORMED;
  refused[reason] += 1;
  if (!connections.markMalformed(socket)) closeWithResponse(socket, rawProblem(code, { accessLog, socket }));
}

/** A problem as the bytes of a whole answer, which ends the connection. */
function rawProblem(
  code: ProblemCode,
  { accessLog, socket }: { accessLog: AccessLog | undefined; socket?: Socket },
): string {
  const { status, title, headers = {} } = problemOf(code);
  const request = newRequestId();
  accessLog?.unrouted({ request, status, problem: code, peer: socket?.remoteAddress });
  const body = problemBody(code, request);
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}
