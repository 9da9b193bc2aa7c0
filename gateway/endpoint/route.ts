/**
 * Registers routes. The contract (`contract/operations.ts`) defines path, method, body and right of an
 * operation, and every check before its handler follows from that, in the order 405, 415, 413, 401, 403: a
 * route cannot differ from `/openapi.json`.
 */
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

/** The handler of an operation; with the caller, if the operation needs a right. */
type OperationHandler<O extends Operation> = O extends { right: Right }
  ? (exchange: Exchange, admitted: Admitted) => Promise<void>
  : (exchange: Exchange) => Promise<void>;

export type Endpoint = {
  operation: Operation;
  /** Called only for authorised callers, if the operation needs a right. */
  handle: (exchange: Exchange, admitted?: Admitted) => Promise<void>;
};

export function endpoint<O extends Operation>(operation: O, handle: OperationHandler<O>): Endpoint {
  return { operation, handle: handle as Endpoint['handle'] };
}

/** Adds the operations of one path. */
export function addEndpoints(
  app: FastifyInstance,
  deps: GatewayDeps,
  answers: Answers,
  endpoints: readonly [Endpoint, ...Endpoint[]],
): void {
  const methods = endpoints.map(({ operation, handle }): [Method, MethodHandler] => {
    const { method, right, body } = operation;
    const onRequest = body && checkBodyHeaders(deps, answers, body.required);
    if (right === undefined) return [method, { handle, onRequest }];
    const handleAdmitted = async (exchange: Exchange): Promise<void> => {
      const admitted = await admit(deps, answers, exchange, right);
      if (admitted !== undefined) await handle(exchange, admitted);
    };
    return [method, { handle: handleAdmitted, onRequest }];
  });
  addRoute(app, answers, routePath(endpoints[0].operation), Object.fromEntries(methods));
}

/**
 * A hook that refuses a body that is not declared as JSON or is too large, before the caller is authorised.
 */
export function checkBodyHeaders(
  { limits }: Pick<GatewayDeps, 'limits'>,
  answers: Answers,
  isRequired: boolean,
): onRequestHookHandler {
  return ({ raw }, reply, next) => {
    const code = isRequired || hasBody(raw.headers) ? refuseByHeaders(raw.headers, limits) : undefined;
    if (code === undefined) next();
    else answers.problem(reply, code);
  };
}
