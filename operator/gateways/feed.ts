/** Updates the view of the gateway from the caches: routes, Leases of replicas, endpoints of its Services. */
import { ANNOTATION } from '../../api/group.ts';
import type { Change } from '../../kube/cache.ts';
import type { EndpointSlice, KubeObject, Lease } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import type { GatewayView, ReplicaReport } from './view.ts';

const SERVICE_LABEL = 'kubernetes.io/service-name';

/** Updates the view from now on. `services` are the gateway's. */
export function feedGatewayView(
  view: GatewayView,
  { routes, testRoutes, leases, slices }: Pick<Caches, 'routes' | 'testRoutes' | 'leases' | 'slices'>,
  services: readonly string[],
): void {
  for (const cache of [routes, testRoutes]) {
    cache.onChange(({ type, object }) => {
      const { uid = '', generation = 0 } = object.metadata;
      if (type === 'deleted') view.removeRoute(uid);
      else view.setRoute({ uid, generation });
    });
  }
  leases.onChange((change) => feedLease(view, change));
  slices.onChange(() => view.setReady(readyReplicas(slices.list(), services)));
}

function feedLease(view: GatewayView, { type, object }: Change<Lease>): void {
  const report = reportOf(object);
  if (!report) return;
  if (type === 'deleted') view.removeReport(report.replica);
  else view.setReport(report);
}

/**
 * The report in a Lease; undefined if it is not of a gateway replica, or of one that has not loaded its
 * routes yet.
 */
export function reportOf({ metadata, spec }: Lease): ReplicaReport | undefined {
  const digest = metadata.annotations?.[ANNOTATION.routes];
  if (digest === undefined) return undefined;
  // The holder is `<pod>_<process>`: no pod name contains an underscore.
  const process = spec?.holderIdentity ?? metadata.name;
  const [replica = process] = process.split('_', 1);
  const waiting = (metadata.annotations?.[ANNOTATION.waiting] ?? '').split(',').filter((uid) => uid !== '');
  return { replica, process, digest, waiting: new Set(waiting) };
}

/** The names of the pods with a ready endpoint of one of the Services. */
export function readyReplicas(slices: readonly EndpointSlice[], services: readonly string[]): Set<string> {
  const endpoints = slices.filter((slice) => isOf(slice, services)).flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter((endpoint) => endpoint.conditions?.ready !== false);
  return new Set(ready.flatMap(({ targetRef, addresses }) => targetRef?.name ?? addresses?.[0] ?? []));
}

function isOf(slice: KubeObject, services: readonly string[]): boolean {
  return services.includes(slice.metadata.labels?.[SERVICE_LABEL] ?? '');
}
