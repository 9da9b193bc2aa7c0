/** The three listeners with their routes: public, internal, metrics. */
import type { FastifyInstance } from 'fastify';
import type { ServerCertificate } from '../kube/certificateFiles.ts';
import { addConsoleRoutes } from './console/routes.ts';
import type { GatewayDeps } from './endpoint/deps.ts';
import { createAnswers } from './http/answers.ts';
import { createListener, type OnRequest } from './http/listener.ts';
import { addConnectRoute } from './internal/connect.ts';
import { addEventsRoute } from './internal/events.ts';
import { addExecuteRoute } from './internal/execute.ts';
import { addOpenApiRoute } from './internal/openApi.ts';
import { addMemoryRoutes } from './internal/memory.ts';
import { addProbeRoutes } from './internal/probes.ts';
import { addRunListRoute } from './internal/runList.ts';
import { addRetryRoute } from './internal/retry.ts';
import { addRunRoute } from './internal/runs.ts';
import { addUsageRoute } from './internal/usage.ts';
import { addBotRoute } from './public/bot.ts';
import { addChatRoutes } from './public/chat/routes.ts';
import { addOAuthCallbackRoute } from './public/oauthCallback.ts';
import { addLinkRoutes } from './public/connect.ts';
import { addRunCallbackRoute } from './public/runCallback.ts';
import { addWebhookRoute } from './public/webhook.ts';

/**
 * Routes for everyone: webhooks, bots, and the pages that connect credentials. With a certificate only over
 * TLS.
 */
export function buildPublic(deps: GatewayDeps, certificate?: ServerCertificate): FastifyInstance {
  const app = createListener(deps, { listener: 'public', admit: limitAddressRate(deps), certificate });
  app.register(async (routes) => {
    addWebhookRoute(routes, deps);
    addBotRoute(routes, deps);
    addChatRoutes(routes, deps);
    addRunCallbackRoute(routes, deps);
    addLinkRoutes(routes, deps);
    addOAuthCallbackRoute(routes, deps);
  });
  return app;
}

/** Routes for callers with a token of the cluster. With a certificate only over TLS. */
export function buildInternal(deps: GatewayDeps, certificate?: ServerCertificate): FastifyInstance {
  const app = createListener(deps, { listener: 'internal', certificate });
  app.register(async (routes) => {
    addProbeRoutes(routes, deps);
    addOpenApiRoute(routes, deps);
    addExecuteRoute(routes, deps);
    addRunListRoute(routes, deps);
    addMemoryRoutes(routes, deps);
    addUsageRoute(routes, deps);
    addRunRoute(routes, deps);
    addRetryRoute(routes, deps);
    addEventsRoute(routes, deps);
    addConnectRoute(routes, deps);
  });
  // Without a console there is no pass-through to the Kubernetes API.
  if (deps.console !== undefined) addConsoleRoutes(app, deps, deps.console);
  return app;
}

/** Routes for Prometheus and the kubelet. Callers of the other listeners cannot exhaust this one. */
export function buildMetrics(deps: GatewayDeps): FastifyInstance {
  const app = createListener(deps);
  app.register(async (routes) => addProbeRoutes(routes, deps));
  const answers = createAnswers(deps, 'other');
  const { registry } = deps.metrics;
  app.get('/metrics', (_request, reply) => {
    registry
      .metrics()
      .then((text) => answers.send(reply, 200, registry.contentType, text))
      .catch((error: unknown) => answers.unexpected(reply, error));
  });
  return app;
}

/** A hook that limits requests per address, before any other check. */
function limitAddressRate(deps: GatewayDeps): OnRequest | undefined {
  const { addresses, rates, refused, settings } = deps.limits;
  if (settings.perAddress.requestsPerSecond === 0) return undefined;
  const answers = createAnswers(deps, 'other');
  return ({ raw }, reply, done) => {
    const client = addresses.clientOf(raw.socket.remoteAddress, raw.headers['x-forwarded-for']);
    const tooMany = rates.ofAddress(client, performance.now());
    if (tooMany === undefined) return done();
    refused[tooMany.reason] += 1;
    answers.refuse(reply, 'too-many-requests', { retryAfter: tooMany.retryAfter });
  };
}
