/** The parts of a running operator: the shared context, and the state that each concern owns. */
import { createRecorder } from '../kube/events.ts';
import { createEgress } from '../nodes/egress/egress.ts';
import { createBotHolders } from './bots/holders.ts';
import { prunesPerSecond } from './writeBudget/split.ts';
import { createCounts } from './counts/controller.ts';
import { createFailureReports } from './counts/failures.ts';
import { createEvaluations } from './evaluation/controller.ts';
import { feedGatewayView } from './gateways/feed.ts';
import { createGatewayView } from './gateways/view.ts';
import type { OperatorMetrics } from './metrics.ts';
import { createAsk } from './oauth/ask.ts';
import { createConnections } from './oauth/connections.ts';
import { createPools } from './pods/pools.ts';
import { createPolls } from './poll/polls.ts';
import { createProjects } from './project/projects.ts';
import { createRegistrations } from './registration/registrations.ts';
import { createRunState } from './run/cancel.ts';
import type { ScalingState } from './scaling/state.ts';
import { createSeedSource } from './seed/source.ts';
import { egressOf } from './shared/config.ts';
import type { OperatorContext } from './shared/context.ts';
import { createPacer } from './shared/pacer.ts';
import type { StoreChanges } from './store/changes.ts';
import { createFullProjects } from './store/fullProjects.ts';
import { createProjectStore } from './store/projects.ts';
import { createWebhookSecrets } from './webhooks/material.ts';

export const COMPONENT = 'windlass.dev/operator';

type PartsOptions = {
  /** The operator's own. */
  namespace: string;
  storeChanges: StoreChanges;
  metrics: Pick<OperatorMetrics, 'polls'>;
  scaling: ScalingState;
  isLeading: () => boolean;
};

export type OperatorParts = ReturnType<typeof createParts>;

export function createParts(
  context: OperatorContext,
  { namespace, storeChanges, metrics, scaling, isLeading }: PartsOptions,
) {
  const { client, caches, conn, config, log, clock } = context;
  const rate = prunesPerSecond(config.RECORD_WRITES_PER_SECOND);
  const gateways = createGatewayView(clock);
  feedGatewayView(gateways, caches, config.GATEWAY_SERVICES);
  const source = createSeedSource({ ...context, pacer: createPacer(rate, clock) });
  const store = createProjectStore(conn, source);
  // Failing workflows have a recorder of their own, so that they leave the rate of all others free.
  const failures = createFailureReports(createRecorder(client, COMPONENT, { log, clock }), clock);
  return {
    ...context,
    store,
    storeChanges,
    gateways,
    webhooks: createWebhookSecrets({ client, caches, clock }),
    bots: createBotHolders(caches),
    registrations: createRegistrations(),
    connections: createConnections({
      ...context,
      ask: createAsk({ client, egress: createEgress(egressOf(config)), isLeading }),
      gatewayURL: config.INTERNAL_URL ?? `http://${config.GATEWAY_SERVICES.at(-1)}.${namespace}`,
    }),
    pools: createPools(),
    scaling,
    polls: createPolls(metrics.polls),
    projects: createProjects(config, log),
    runs: createRunState(),
    evaluations: createEvaluations(),
    pacer: createPacer(rate, clock),
    counts: createCounts({ ...context, store, scaling }, failures),
    fullProjects: createFullProjects(clock),
  };
}
