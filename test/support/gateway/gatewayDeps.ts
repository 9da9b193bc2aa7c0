/**
 * What the gateway's listeners are built from, for tests that need no answer of what is behind them:
 * everything is real, but nobody answers for the run store, so that whatever passes all checks ends with 503,
 * and who calls is allowed. They know one workflow, `shop.orders`, with a webhook, and another that has the
 * bot `shop.helper`, and a chat, unless other routes are given.
 */
import { NO_AUDIT } from '../../../api/audit/audit.ts';
import type { GatewayDeps } from '../../../gateway/endpoint/deps.ts';
import { createLimits } from '../../../gateway/limits/limits.ts';
import { limitSettings } from '../../../gateway/limits/settings.ts';
import { createMetrics } from '../../../gateway/http/metrics.ts';
import { createRouteTable, type RouteTable } from '../../../gateway/routing/table.ts';
import { createPassThrough } from '../../../kube/passThrough.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { createReplyWaiter } from '../../../runs/reply.ts';
import { createSubmitter } from '../../../runs/submitter.ts';
import { createCollectedLog } from '../logs/collectedLog.ts';

const ORDERS = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WebhookRoute',
  metadata: { name: 'orders', namespace: 'shop', uid: 'uid-orders', generation: 1 },
  spec: {
    workflow: 'orders',
    workflowUID: 'workflow-orders',
    projectUID: 'project',
    revision: 'orders-1',
    trigger: 'webhook',
    active: true,
    webhook: { path: 'new', reply: false, replyTimeoutSeconds: 30 },
  },
};

const HELPER = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WebhookRoute',
  metadata: { name: 'answers', namespace: 'shop', uid: 'uid-answers', generation: 1 },
  spec: {
    workflow: 'answers',
    workflowUID: 'workflow-answers',
    projectUID: 'project',
    revision: 'answers-1',
    trigger: 'bot',
    active: true,
    bot: { credential: 'helper', platform: 'telegram' },
  },
};

export const CHAT_ID = '0123456789abcdef0123456789abcdef';

const CHAT = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WebhookRoute',
  metadata: { name: 'support', namespace: 'shop', uid: 'uid-support', generation: 1 },
  spec: {
    workflow: 'support',
    workflowUID: 'workflow-support',
    projectUID: 'project',
    revision: 'support-1',
    trigger: 'chat',
    active: true,
    chat: { id: CHAT_ID, title: 'Support', access: 'Public' },
  },
};

export type GatewayDepsOptions = Partial<
  Pick<
    GatewayDeps,
    'access' | 'audit' | 'closing' | 'console' | 'health' | 'kube' | 'log' | 'namespaces' | 'routes'
  >
> & {
  /** The largest body; default as in the chart. */
  bodyBytes?: number;
};

export function createGatewayDeps({ bodyBytes, ...given }: GatewayDepsOptions = {}): {
  deps: GatewayDeps;
  close: () => void;
} {
  const runs = connectRunStore({ url: 'redis://127.0.0.1:1', name: 'test' });
  const waiter = createReplyWaiter(runs);
  const routes = given.routes ?? ordersAndHelper();
  const open = { waiters: 0, streams: 0 };
  const limits = createLimits(limitSettings.parse({ ...(bodyBytes !== undefined && { bodyBytes }) }), []);
  const deps: GatewayDeps = {
    runs,
    submit: createSubmitter(runs),
    waiter,
    access: {
      authorize: async () => ({ decision: 'allowed', identity: { username: 'tester' } }),
      decide: async () => 'allowed',
      identify: async () => ({ outcome: 'known', identity: { username: 'tester' } }),
    },
    publicURL: undefined,
    console: { dir: '/no/console', url: undefined, idleMs: 3_600_000, oidc: undefined, helpMeBuild: false },
    client: { find: async () => undefined },
    namespaces: [],
    kube: createPassThrough({ server: 'http://127.0.0.1:1' }, 'test'),
    records: { of: async () => [] },
    health: { synced: () => true, unready: () => undefined },
    metrics: createMetrics({
      routes: routes.size,
      routesAgeSeconds: () => 0,
      open,
      refused: limits.refused,
      inFlightBytes: limits.inFlight.bytes,
    }),
    open,
    limits,
    draining: new AbortController().signal,
    closing: new AbortController().signal,
    log: createCollectedLog(),
    audit: NO_AUDIT,
    ...given,
    routes,
  };
  const close = () => {
    waiter.close();
    void runs.close();
  };
  return { deps, close };
}

function ordersAndHelper(): RouteTable {
  const routes = createRouteTable();
  routes.put(ORDERS);
  routes.put(HELPER);
  routes.put(CHAT);
  return routes;
}
