/**
 * A listener before it listens. All listeners bound slow, large and malformed requests alike, and answer
 * every error with a problem, also those of the HTTP parser.
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

/** The longest URL, in characters. */
const MAX_URL = 8_192;
/** A connection is closed after this time without traffic: longer than the longest wait for a run. */
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
      // `refuseMalformed` answers with a problem instead.
      requireHostHeader: false,
      // By default Node drops the second of two equal headers, while a proxy may have read that one.
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

/** A TLS connection takes three times the memory: 67 KiB measured, 21 KiB without TLS. */
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
  /** Left out: no access log. */
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
  // The size of the headers bounds their number. By default Node drops headers after the 2,000th.
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
  // Handlers read bodies themselves (`endpoint/jsonBody.ts`, `public/push.ts`). Fastify would read them
  // before the caller is authorised, and without the limits on memory and pieces that all connections share
  // (`body.ts`). With no body declared it also checks no Content-Type.
  for (const method of METHODS) {
    if (method !== 'CONNECT') app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  if (listener !== undefined) deps.accessLog?.follow(app, listener);
  app.addHook('onRequest', refuseMalformed(answers, connections));
  if (certificate !== undefined) app.addHook('onRequest', setForwardedProto);
  if (admit !== undefined) app.addHook('onRequest', admit);
  app.setErrorHandler((error, _request, reply) => answers.unexpected(reply, error));
  app.all('/*', { onRequest: (_request, reply) => answers.refuse(reply, 'not-found') }, () => undefined);
  // By default Node sends "100 Continue" before the headers are checked, and refuses other expectations
  // itself.
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response));
  }
  // Without a listener a CONNECT request would get no answer at all.
  app.server.on('connect', (_request, duplex) => {
    const socket = duplex as Socket;
    refused.malformed += 1;
    if (!connections.markMalformed(socket))
      closeWithResponse(socket, rawProblem('bad-request', { accessLog, socket }));
  });
  return app;
}

/** The browser's scheme is read from this header. A proxy knows it better than this connection. */
const setForwardedProto: OnRequest = ({ raw }, _reply, done) => {
  raw.headers['x-forwarded-proto'] ??= 'https';
  done();
};

function refuseMalformed(answers: Answers, connections: Connections): OnRequest {
  return (request, reply, done) => {
    const { url = '' } = request.raw;
    // Requests after an answer that closed the connection are ignored (RFC 9112, section 9.6).
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

/** Answers malformed HTTP once and closes the connection: the next request cannot be found. */
function answerParserError(
  error: Error & { code?: string },
  socket: Socket,
  { refused, connections, accessLog }: ParserErrorDeps,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // A client without a finished handshake cannot read an answer.
  if (socket instanceof TLSSocket && !connections.has(socket)) {
    refused['tls-handshake'] += 1;
    socket.destroy();
    return;
  }
  const { code, reason } = PARSER_PROBLEMS[error.code ?? ''] ?? MALFORMED;
  refused[reason] += 1;
  if (!connections.markMalformed(socket)) closeWithResponse(socket, rawProblem(code, { accessLog, socket }));
}

/** A problem as raw bytes, with `Connection: close`. */
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
