/** What of the console is on the internal listener, beside the way to the Kubernetes API. */
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../kube/clock.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { createCurrent } from './session/current.ts';
import { consoleFiles } from './files.ts';
import { bearSession } from './session/hook.ts';
import { linkRoutes } from './session/links.ts';
import { createProvider } from './session/oidc.ts';
import { oidcRoutes } from './session/oidcRoutes.ts';
import { createOrigin } from './session/origin.ts';
import { refuseOtherHosts } from './otherHosts.ts';
import { createRenewal } from './session/renewal.ts';
import { createRevocation } from './session/revocation.ts';
import { sessionRoute } from './session/session.ts';
import { createSessions } from './session/sessions.ts';
import type { ConsoleSettings } from './settings.ts';

/** Registers it. The hooks hold for all routes of the listener: a session bears its token, and no browser guesses what an answer is. */
export function registerConsole(app: FastifyInstance, deps: GatewayDeps, settings: ConsoleSettings): void {
  const { runs: conn, log } = deps;
  const origin = createOrigin(settings.url);
  const provider = settings.oidc && createProvider(settings.oidc, systemClock);
  const revoke = provider && createRevocation({ conn, provider, log });
  const sessions = createSessions({ conn, clock: systemClock, origin, idleMs: settings.idleMs, revoke });
  const renew = provider && createRenewal({ conn, provider, clock: systemClock, log });
  const current = createCurrent(sessions, renew);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff');
    done();
  });
  if (settings.url !== undefined) app.addHook('onRequest', refuseOtherHosts(deps, origin));
  app.addHook('onRequest', bearSession(deps, sessions, current));
  app.register(sessionRoute(deps, sessions, current));
  if (provider !== undefined) app.register(oidcRoutes(deps, sessions, provider));
  app.register(linkRoutes(deps, sessions));
  app.register(consoleFiles(deps, settings));
}
