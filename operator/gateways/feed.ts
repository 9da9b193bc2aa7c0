/** Tells the view of the gateway what the caches see: routes, the replicas' Leases, the endpoints of its Services. */
import { ANNOTATION } from '../../api/group.ts';
import type { Change } from '../../kube/cache.ts';
import type { EndpointSlice, KubeObject, Lease } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import type { GatewayView, ReplicaReport } from './view.ts';

const SERVICE_LABEL = 'kubernetes.io/service-name';

/** Feeds the view from now on. `services` are the gateway's. */
export function feedGatewayView(
  view: GatewayView,
  { routes, leases, slices }: Pick<Caches, 'routes' | 'leases' | 'slices'>,
  services: readonly string[],
): void {
  routes.onChange(({ type, object }) => {
    const { uid = '', generation = 0 } = object.metadata;
    if (type === 'deleted') view.removeRoute(uid);
    else view.setRoute({ uid, generation });
  });
  leases.onChange((change) => feedLease(view, change));
  slices.onChange(() => view.setReady(readyReplicas(slices.list(), services)));
}

function feedLease(view: GatewayView, { type, object }: Change<Lease>): void {
  const report = reportOf(object);
  if (!report) return;
  if (type === 'deleted') view.removeReport(report.replica);
  else view.setReport(report);
}

/** What a Lease says; undefined for one that is no gateway replica's, or of one that does not know its routes yet. */
export function reportOf({ metadata, spec }: Lease): ReplicaReport | undefined {
  const digest = metadata.annotations?.[ANNOTATION.routes];
  if (digest === undefined) return undefined;
  // A replica names its pod and, after an underscore, which no pod's name has, the process in it.
  const process = spec?.holderIdentity ?? metadata.name;
  const [replica = process] = process.split('_', 1);
  const waiting = (metadata.annotations?.[ANNOTATION.waiting] ?? '').split(',').filter((uid) => uid !== '');
  return { replica, process, digest, waiting: new Set(waiting) };
}

/** The names of the pods that are ready behind one of the Services. */
export function readyReplicas(slices: readonly EndpointSlice[], services: readonly string[]): Set<string> {
  const endpoints = slices.filter((slice) => isOf(slice, services)).flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter((endpoint) => endpoint.conditions?.ready !== false);
  return new Set(ready.flatMap(({ targetRef, addresses }) => targetRef?.name ?? addresses?.[0] ?? []));
}

function isOf(slice: KubeObject, services: readonly string[]): boolean {
  return services.includes(slice.metadata.labels?.[SERVICE_LABEL] ?? '');
}
