/** Registers the console's backend: sessions, files, and the pass-through to the Kubernetes API. */
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../kube/clock.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { createSessionReader, authorizeBySession } from './session/requestSession.ts';
import { addConsoleFiles } from './files.ts';
import { addSignInLinkRoutes } from './session/links.ts';
import { createProvider } from './session/oidc.ts';
import { addOidcRoutes } from './session/oidcRoutes.ts';
import { createOrigin } from './session/origin.ts';
import { refuseOtherHosts } from './otherHosts.ts';
import { createRenewal, createRevocation } from './session/renewal.ts';
import { addSessionRoute } from './session/sessionRoute.ts';
import { createSessions } from './session/sessions.ts';
import type { ConsoleSettings } from '../endpoint/deps.ts';
import { createCallers } from './kubeApi/callers.ts';
import { addLiveRoute } from './kubeApi/live.ts';
import { addProjectsRoute } from './kubeApi/projects.ts';
import { addKubeRoute } from './kubeApi/route.ts';

/**
 * Adds the routes, and hooks for the whole listener: a session authorises its requests, and browsers must not
 * guess content types.
 */
export function addConsoleRoutes(app: FastifyInstance, deps: GatewayDeps, settings: ConsoleSettings): void {
  const { runs: conn, log } = deps;
  const origin = createOrigin(settings.url);
  const provider = settings.oidc && createProvider(settings.oidc, systemClock);
  const revoke = provider && createRevocation({ conn, provider, log });
  const sessions = createSessions({ conn, clock: systemClock, origin, idleMs: settings.idleMs, revoke });
  const renew = provider && createRenewal({ conn, provider, clock: systemClock, log });
  const current = createSessionReader(sessions, renew);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff');
    done();
  });
  if (settings.url !== undefined) app.addHook('onRequest', refuseOtherHosts(deps, origin));
  app.addHook('onRequest', authorizeBySession(deps, sessions, current));
  app.register(async (routes) => {
    addSessionRoute(routes, deps, sessions, current);
    if (provider !== undefined) addOidcRoutes(routes, deps, sessions, provider);
    addSignInLinkRoutes(routes, deps, sessions);
    addConsoleFiles(routes, deps, settings);
    const callers = createCallers(deps.access, systemClock);
    addKubeRoute(routes, deps, callers);
    addLiveRoute(routes, deps, callers);
    addProjectsRoute(routes, deps, callers);
  });
}
