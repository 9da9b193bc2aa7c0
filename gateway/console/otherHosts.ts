/**
 * Refuses requests for the console that were sent to another host than its own: a page whose name was rebound to our address, or that
 * another name of this listener serves. What programs call, and probes, answer at every host.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers } from '../answers.ts';
import type { GatewayDeps } from '../deps.ts';
import type { ConsoleOrigin } from './origin.ts';

/** The routes of browsers, as the router knows them: an address with escapes comes to the same. */
const OURS = /^\/(?:console|kube)(?:\/|$)/;

/** A hook for the whole listener. */
export function refuseOtherHosts(deps: GatewayDeps, { isHere }: ConsoleOrigin) {
  const answers = createAnswers(deps, 'console');
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (isHere(request.raw.headers) || !OURS.test(request.routeOptions.url ?? '')) done();
    else answers.problem(reply, 'misdirected-request');
  };
}
