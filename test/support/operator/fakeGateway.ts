/**
 * Stands in for replicas of the gateway, as the operator sees them: a Lease each, and the endpoints of their
 * Service.
 */
import { ANNOTATION } from '../../../api/group.ts';
import { emptyDigest, formatDigest, toggle } from '../../../api/routes.ts';
import { createCache } from '../../../kube/cache.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { endpointSlices, leases } from '../../../kube/resource.ts';
import { webhookRoutes } from '../../../operator/shared/resources.ts';
import { createCollectedLog } from '../logs/collectedLog.ts';
import { pollUntil } from '../time/poll.ts';

export type FakeGateway = {
  /** These replicas have ready endpoints from now on; those that had one before have shut down. */
  ready(...replicas: string[]): Promise<void>;
  /** The replica keeps to itself what it learns, until it catches up. */
  lag(replica: string): void;
  catchUp(replica: string): Promise<void>;
  stop(): Promise<void>;
};

const WITHIN = { timeoutMs: 60_000 };

const leaseName = (replica: string): string => `windlass-gateway-${replica}`;

/** Starts with one replica, `gateway-1`, which acknowledges every route at once. */
export async function startFakeGateway(client: KubeClient, namespace: string): Promise<FakeGateway> {
  const stopping = new AbortController();
  const routes = createCache({ client, resource: webhookRoutes, log: createCollectedLog() });
  const following = routes.start(stopping.signal);
  const lagging = new Set<string>();
  const waiting = new Map<string, Promise<void>>();
  const running = new Map<string, Promise<void>>();
  let replicas: string[] = [];

  function digest(): string {
    const own = emptyDigest();
    for (const { metadata } of routes.list()) toggle(own, metadata.uid ?? '', metadata.generation ?? 0);
    return formatDigest(own);
  }

  /**
   * One after the other, since of two that are under way at once the older one may arrive last; what waits
   * for its turn says the newest.
   */
  function acknowledge(replica: string): Promise<void> {
    const next = waiting.get(replica);
    if (next) return next;
    const turn = (running.get(replica) ?? Promise.resolve()).then(() => {
      waiting.delete(replica);
      return untilWritten(replica);
    });
    waiting.set(replica, turn);
    running.set(replica, turn);
    return turn;
  }

  /** Also on a machine that is so slow that calls fail: nothing else would come to make it say so again. */
  async function untilWritten(replica: string): Promise<void> {
    await pollUntil(`the Lease of ${replica} being written`, () => write(replica).then(() => true), WITHIN);
  }

  async function write(replica: string): Promise<void> {
    if (lagging.has(replica) || stopping.signal.aborted) return;
    const metadata = {
      namespace,
      name: leaseName(replica),
      annotations: { [ANNOTATION.routes]: digest() },
    };
    await client.apply(leases, { metadata, spec: { holderIdentity: `${replica}_process` } });
  }

  async function ready(...names: string[]): Promise<void> {
    const gone = replicas.filter((replica) => !names.includes(replica));
    replicas = names;
    const metadata = {
      namespace,
      name: 'windlass-gateway-1',
      labels: { 'kubernetes.io/service-name': 'windlass-gateway' },
    };
    const endpoints = names.map((name, index) => ({
      addresses: [`10.0.0.${index + 1}`],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', name, namespace },
    }));
    await Promise.all(names.map(acknowledge));
    await client.apply(endpointSlices, { metadata, addressType: 'IPv4', endpoints });
    for (const replica of gone) await client.delete(leases, { namespace, name: leaseName(replica) });
  }

  await routes.synced;
  await ready('gateway-1');
  routes.onChange(() => {
    for (const replica of replicas) void acknowledge(replica);
  });
  return {
    ready,
    lag: (replica) => void lagging.add(replica),
    catchUp: (replica) => {
      lagging.delete(replica);
      return acknowledge(replica);
    },
    stop: async () => {
      stopping.abort();
      await following;
    },
  };
}
