/**
 * Refuses console requests to any host but the console's: DNS rebinding, or another name of this listener.
 * The API for programs and the probes answer at every host.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEvent } from '../../api/audit/events.ts';
import { createAnswers } from '../http/answers.ts';
import { recordCall, auditResult } from '../endpoint/audit.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { recordRefusal } from './kubeApi/audit.ts';
import type { ConsoleOrigin } from './session/origin.ts';

/** Routes for browsers, as router patterns, so that escapes in a path do not matter. */
const CONSOLE_ROUTES = /^\/(?:console|kube)(?:\/|$)/;

/** Routes that forward to the Kubernetes API. */
const KUBERNETES_ROUTES = /^\/(?:kube\/|console\/(?:live|projects)$)/;

const SESSION_EVENTS: Record<string, AuditEvent> = {
  'POST /console/session': 'session.create',
  'DELETE /console/session': 'session.delete',
  'POST /console/links': 'session.link',
  'POST /console/link/:secret': 'session.create',
  'GET /console/oidc/callback': 'session.create',
};

/** A hook for the whole listener. */
export function refuseOtherHosts(deps: GatewayDeps, { isConsoleHost }: ConsoleOrigin) {
  const answers = createAnswers(deps, 'console');
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (isConsoleHost(request.raw.headers) || !CONSOLE_ROUTES.test(request.routeOptions.url ?? '')) done();
    else {
      recordMisdirected(deps, request);
      answers.problem(reply, 'misdirected-request');
    }
  };
}

/** Records calls that need a user. Pages and files are public and not recorded. */
function recordMisdirected(deps: GatewayDeps, request: FastifyRequest): void {
  const reason = 'misdirected-request';
  const { raw, routeOptions } = request;
  const { url = '' } = routeOptions;
  const event = SESSION_EVENTS[`${raw.method} ${url}`];
  if (event !== undefined) recordCall(deps, raw, { event, ...auditResult(reason) });
  else if (KUBERNETES_ROUTES.test(url)) recordRefusal(deps, { request }, { reason });
}
