/**
 * Tells the operator which routes this replica serves, in a Lease that is written when the table changes and
 * every five seconds. A route is acknowledged only once it is in the table, so that a ready workflow is
 * served.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { KubeClient } from '../../kube/client.ts';
import { maintainLease } from '../../kube/lease.ts';
import type { Log } from '../../kube/log.ts';
import type { RouteTable } from './table.ts';

export type AcknowledgeOptions = {
  client: Pick<KubeClient, 'apply' | 'delete'>;
  table: RouteTable;
  /** The replica's pod; without a UID the Lease has no owner. */
  pod: { namespace: string; name: string; uid?: string | undefined };
  /** Identifies this process, so that the operator notices a restart. */
  identity: string;
  log: Log;
  /** Stops the writes and deletes the Lease. */
  signal: AbortSignal;
};

export type LeaseAge = { ageMs: number; steadyMs: number };

export const NO_LEASE: LeaseAge = { ageMs: Infinity, steadyMs: 0 };

export type Acknowledged = {
  /** Call when the table has changed. */
  changed: () => void;
  /**
   * Milliseconds since the last successful write (Infinity before the first), and for how long every write
   * succeeded.
   */
  lease: () => LeaseAge;
  /** Resolves when the Lease is deleted after the signal. */
  stopped: Promise<void>;
};

function leaseName(pod: string): string {
  return `windlass-gateway-${pod}`;
}

export function acknowledgeRoutes(options: AcknowledgeOptions): Acknowledged {
  const { client, table, pod, identity, log, signal } = options;
  const annotations = (): Record<string, string> => ({
    [ANNOTATION.routes]: table.digest(),
    [ANNOTATION.waiting]: table.waiting().join(','),
  });
  const lease = maintainLease({
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
      // A list changes many routes at once; compute the digest once.
      queueMicrotask(() => {
        pending = false;
        lease.publish(annotations());
      });
    },
    lease: () => lease.confirmed(),
    stopped: lease.stopped,
  };
}
