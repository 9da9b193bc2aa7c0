/** What the console asks the Kubernetes API through the gateway. */
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../../kube/clock.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { createCallers } from './callers.ts';
import { liveRoute } from './live.ts';
import { projectsRoute } from './projects.ts';
import { kubeRoute } from './route.ts';

export function registerKube(app: FastifyInstance, deps: GatewayDeps): void {
  const callers = createCallers(deps.access, systemClock);
  app.register(kubeRoute(deps, callers));
  app.register(liveRoute(deps, callers));
  app.register(projectsRoute(deps, callers));
}
