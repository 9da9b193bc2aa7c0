/**
 * Tells the operator which routes this replica serves: in a Lease of its own, written as soon as the table has changed
 * and otherwise every five seconds. A route is acknowledged only after it is in the table, so that what the operator
 * calls ready is answered.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { KubeClient } from '../../kube/client.ts';
import { keepLease } from '../../kube/lease.ts';
import type { Log } from '../../kube/log.ts';
import type { RouteTable } from './table.ts';

export type AcknowledgeOptions = {
  client: Pick<KubeClient, 'apply' | 'delete'>;
  table: RouteTable;
  /** The pod that this replica is; without a uid the Lease has no owner. */
  pod: { namespace: string; name: string; uid?: string | undefined };
  /** Names this process, so that the operator sees a restart: what the former process served, the new one must learn. */
  identity: string;
  log: Log;
  /** Ends it, and deletes the Lease. */
  signal: AbortSignal;
};

export type LeaseAge = { ageMs: number; steadyMs: number };

export const NO_LEASE: LeaseAge = { ageMs: Infinity, steadyMs: 0 };

export type Acknowledged = {
  /** Call it when the table has changed. */
  changed: () => void;
  /** Milliseconds since the API server last took the Lease (Infinity before the first time), and for how long it has taken each. */
  lease: () => LeaseAge;
  /** Resolves when the Lease is deleted, after the signal. */
  stopped: Promise<void>;
};

/** The name of a replica's Lease. */
function leaseName(pod: string): string {
  return `windlass-gateway-${pod}`;
}

export function acknowledgeRoutes(options: AcknowledgeOptions): Acknowledged {
  const { client, table, pod, identity, log, signal } = options;
  const annotations = (): Record<string, string> => ({
    [ANNOTATION.routes]: table.digest(),
    [ANNOTATION.waiting]: table.waiting().join(','),
  });
  const lease = keepLease({
    client,
    namespace: pod.namespace,
    name: leaseName(pod.name),
    identity,
    labels: { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/component': 'gateway' },
    annotations: annotations(),
    ...(pod.uid !== undefined && {
      owner: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid },
    }),
    log,
    signal,
  });
  let pending = false;
  return {
    changed: () => {
      if (pending) return;
      pending = true;
      // A list changes many routes in one turn: their digest is made once.
      queueMicrotask(() => {
        pending = false;
        lease.publish(annotations());
      });
    },
    lease: () => lease.confirmed(),
    stopped: lease.stopped,
  };
}
