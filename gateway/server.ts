/**
 * The three listeners, each built apart from listening: public, internal, metrics. All share one set of bounds against
 * slow, large and malformed requests, and every answer that is an error is a problem, also those of the HTTP parser.
 */
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createAnswers, newInstance, type Answers } from './answers.ts';
import type { GatewayDeps } from './deps.ts';
import { healthRoutes } from './health.ts';
import { eventsRoute } from './internal/events.ts';
import { executeRoute } from './internal/execute.ts';
import { runRoute } from './internal/runs.ts';
import { PROBLEMS, PROBLEM_TYPE, problemBody, type ProblemCode } from './problems.ts';
import { webhookRoute } from './public/webhook.ts';

/** The longest address; with it all headers together stay below the parser's 16 KiB. */
const MAX_URL = 8_192;

const BOUNDS = {
  requestTimeout: 10_000,
  // Longer than load balancers keep idle connections, so that they never send into one that we are closing.
  keepAliveTimeout: 75_000,
  http: { headersTimeout: 5_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000 },
  bodyLimit: 1_048_576,
  exposeHeadRoutes: false,
  return503OnClosing: false,
  routerOptions: { maxParamLength: MAX_URL },
} as const;

/** What anybody may call: webhooks. */
export function buildPublic(deps: GatewayDeps): FastifyInstance {
  const app = createListener(deps);
  app.register(webhookRoute(deps));
  return app;
}

/** What callers with a token of the cluster may call, and what kubelet asks. */
export function buildInternal(deps: GatewayDeps): FastifyInstance {
  const app = createListener(deps);
  app.register(healthRoutes(deps));
  app.register(executeRoute(deps));
  app.register(runRoute(deps));
  app.register(eventsRoute(deps));
  return app;
}

/** What Prometheus asks. */
export function buildMetrics(deps: GatewayDeps): FastifyInstance {
  const app = createListener(deps);
  app.get('/metrics', async (_request, reply) => {
    reply.type(deps.metrics.registry.contentType);
    return deps.metrics.registry.metrics();
  });
  return app;
}

function createListener(deps: GatewayDeps): FastifyInstance {
  const answers = createAnswers(deps.metrics, 'other', deps.log);
  const app = fastify({
    ...BOUNDS,
    frameworkErrors: (_error, _request, reply: FastifyReply) => answers.problem(reply, 'not-found'),
    clientErrorHandler: answerParserError,
  });
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== 'CONNECT') app.addHttpMethod(method);
  }
  // Bodies are read by the routes, after their own checks; nothing is ever parsed here.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', refuseOddRequests(answers));
  app.setErrorHandler((error, _request, reply) => answers.unexpected(reply, error));
  app.all('/*', { onRequest: (_request, reply) => answers.problem(reply, 'not-found') }, () => undefined);
  // Otherwise the parser says "100 Continue" before the headers were judged.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
  return app;
}

function refuseOddRequests(answers: Answers) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const { url = '', httpVersionMajor } = request.raw;
    if (url.length > MAX_URL) answers.problem(reply, 'uri-too-long');
    // The parser lets HTTP/0.9 pass, which knows neither headers nor statuses.
    else if (httpVersionMajor < 1) answers.problem(reply, 'bad-request');
    else done();
  };
}

const PARSER_PROBLEMS: Record<string, ProblemCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/** What is no HTTP gets one answer and the end of its connection, since what follows cannot be told apart. */
function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = PARSER_PROBLEMS[error.code ?? ''] ?? 'bad-request';
  const body = problemBody(code, newInstance());
  socket.end(
    `HTTP/1.1 ${PROBLEMS[code].status} ${PROBLEMS[code].title}\r\nConnection: close\r\n` +
      `Content-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
