/**
 * Registers routes. The contract (`contract/operations.ts`) defines path, method, body and right of an
 * operation, and every check before its handler follows from that, in the order 405, 415, 413, 401, 403: a
 * route cannot differ from `/openapi.json`.
 *
 * Handlers validate queries and bodies with the schemas of the contract. As Fastify schemas these would be
 * checked in one step, but a suspended workflow (409), for example, comes between query (400) and body (422).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { routePath, type Operation, type Right } from '../contract/operation.ts';
import type { Answers, Exchange } from '../http/answers.ts';
import { hasBody, refuseByHeaders } from '../http/body.ts';
import { admit, type Admitted } from './admit.ts';
import type { GatewayDeps } from './deps.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';

type MethodHandler = {
  handle: (exchange: Exchange) => Promise<void>;
  /** Checks the request before `handle`. */
  onRequest?: onRequestHookHandler | undefined;
};

/**
 * Adds a route with these methods; all others get 405. A handler that rejects is answered with 500, and
 * logged even after its answer.
 */
export function addRoute(
  app: FastifyInstance,
  answers: Answers,
  url: string,
  methods: Partial<Record<Method, MethodHandler>>,
): void {
  for (const [method, { handle, onRequest }] of Object.entries(methods)) {
    app.route({
      method,
      url,
      ...(onRequest && { onRequest }),
      // Not returned to Fastify: it drops errors that come after the answer.
      handler: (request, reply) => {
        handle({ request, reply }).catch((error: unknown) => answers.unexpected(reply, error));
      },
    });
  }
  const allow = Object.keys(methods).join(', ');
  app.route({
    method: app.supportedMethods.filter((method) => !Object.hasOwn(methods, method)),
    url,
    onRequest: (_request, reply) => answers.problem(reply, 'method-not-allowed', { allow }),
    handler: () => undefined,
  });
}

/** An operation with its handler. One that needs a right is handled only for callers that have it. */
type Endpoint =
  | { operation: Operation & { right?: undefined }; handle: MethodHandler['handle'] }
  | {
      operation: Operation & { right: Right };
      handleAdmitted: (exchange: Exchange, admitted: Admitted) => Promise<void>;
    };

/** Adds the operations of one path. */
export function addEndpoints(
  app: FastifyInstance,
  deps: GatewayDeps,
  answers: Answers,
  endpoints: readonly [Endpoint, ...Endpoint[]],
): void {
  const methods = endpoints.map((endpoint): [Method, MethodHandler] => {
    const { method, body } = endpoint.operation;
    const onRequest = body && checkBodyHeaders(deps, answers, body.required);
    if (!('handleAdmitted' in endpoint)) return [method, { handle: endpoint.handle, onRequest }];
    const { operation, handleAdmitted } = endpoint;
    const handle = async (exchange: Exchange): Promise<void> => {
      const admitted = await admit(deps, answers, exchange, operation.right);
      if (admitted !== undefined) await handleAdmitted(exchange, admitted);
    };
    return [method, { handle, onRequest }];
  });
  addRoute(app, answers, routePath(endpoints[0].operation), Object.fromEntries(methods));
}

/**
 * A hook that refuses a body that is not declared as JSON or is too large, before the caller is authorised.
 * Whether a chunked body is empty is known once it is read: an optional one may have no type until then.
 */
export function checkBodyHeaders(
  { limits }: Pick<GatewayDeps, 'limits'>,
  answers: Answers,
  isRequired: boolean,
): onRequestHookHandler {
  return ({ raw }, reply, next) => {
    const isExpected = isRequired || (hasBody(raw.headers) && !mayProveEmpty(raw.headers));
    const code = isExpected ? refuseByHeaders(raw.headers, limits) : undefined;
    if (code === undefined) next();
    else answers.problem(reply, code);
  };
}

function mayProveEmpty(headers: IncomingHttpHeaders): boolean {
  return (
    headers['transfer-encoding'] !== undefined &&
    headers['content-type'] === undefined &&
    headers['content-encoding'] === undefined
  );
}
