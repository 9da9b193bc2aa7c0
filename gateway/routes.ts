/**
 * What is served: the routes in memory, found by workflow id, or by the last two segments of a webhook's URL, in one
 * look-up. Together with the routes it keeps their digest, which the replica's Lease acknowledges.
 */
import { routeSpec, type RouteSpec } from '../api/route.ts';
import { workflowId } from '../api/group.ts';
import { emptyDigest, formatDigest, toggle } from '../api/routes.ts';
import { objectKey, type KubeObject } from '../kube/resource.ts';

/** One workflow as it is served. */
export type Route = {
  uid: string;
  generation: number;
  /** The workflow's id, `<namespace>.<name>`. */
  id: string;
  namespace: string;
  spec: RouteSpec;
};

export type RouteTable = {
  /** The active workflow whose webhook has this `<id>/<path>`, not decoded. */
  webhook: (key: string) => Route | undefined;
  /** The workflow of this id, active or not. */
  workflow: (id: string) => Route | undefined;
  /** The project of a namespace, as far as one of its workflows is served. */
  project: (namespace: string) => string | undefined;
  /** Serves an object as it is now. False if the object is none that can be served; then nothing is served of it. */
  put: (object: KubeObject) => boolean;
  /** Stops serving an object. */
  remove: (object: KubeObject) => void;
  /** What is served, for the Lease. */
  digest: () => string;
  size: () => number;
};

export function createRouteTable(): RouteTable {
  const byObject = new Map<string, Route>();
  const byId = new Map<string, Route>();
  const byWebhook = new Map<string, Route>();
  const projects = new Map<string, { uid: string; routes: number }>();
  const digest = emptyDigest();

  function add(key: string, route: Route): void {
    byObject.set(key, route);
    byId.set(route.id, route);
    const webhook = webhookKey(route);
    if (webhook !== undefined) byWebhook.set(webhook, route);
    const routes = projects.get(route.namespace)?.routes ?? 0;
    projects.set(route.namespace, { uid: route.spec.projectUID, routes: routes + 1 });
    toggle(digest, route.uid, route.generation);
  }

  function drop(key: string): void {
    const route = byObject.get(key);
    if (route === undefined) return;
    byObject.delete(key);
    if (byId.get(route.id) === route) byId.delete(route.id);
    const webhook = webhookKey(route);
    if (webhook !== undefined && byWebhook.get(webhook) === route) byWebhook.delete(webhook);
    const project = projects.get(route.namespace);
    if (project !== undefined && project.routes > 1) project.routes -= 1;
    else projects.delete(route.namespace);
    toggle(digest, route.uid, route.generation);
  }

  return {
    webhook: (key) => byWebhook.get(key),
    workflow: (id) => byId.get(id),
    project: (namespace) => projects.get(namespace)?.uid,
    put: (object) => {
      const key = objectKey(object.metadata);
      const route = parseRoute(object);
      drop(key);
      if (route !== undefined) add(key, route);
      return route !== undefined;
    },
    remove: (object) => drop(objectKey(object.metadata)),
    digest: () => formatDigest(digest),
    size: () => byObject.size,
  };
}

function webhookKey({ id, spec }: Route): string | undefined {
  return spec.active && spec.webhook !== undefined ? `${id}/${spec.webhook.path}` : undefined;
}

function parseRoute(object: KubeObject): Route | undefined {
  const { uid, generation, namespace } = object.metadata;
  const parsed = routeSpec.safeParse(object.spec);
  if (uid === undefined || generation === undefined || namespace === undefined || !parsed.success)
    return undefined;
  return { uid, generation, namespace, id: workflowId(namespace, parsed.data.workflow), spec: parsed.data };
}
