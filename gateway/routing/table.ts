/**
 * What is served: the routes in memory, found by workflow id, or by the last segments of the URL of a webhook
 * or bot, in one look-up. Together with the routes it keeps their digest, which the replica's Lease acknowledges.
 */
import { routeSpec, verificationIn, type RouteSpec } from '../../api/route.ts';
import { workflowId } from '../../api/group.ts';
import { emptyDigest, formatDigest, toggle } from '../../api/routes.ts';
import { entryName } from '../../api/webhookAuth.ts';
import { objectKey, type KubeObject } from '../../kube/resource.ts';
import { authPolicyOf, type AuthPolicy } from '../verify/authPolicy.ts';

/** One workflow as it is served. */
export type Route = {
  uid: string;
  generation: number;
  /** The workflow's id, `<namespace>.<name>`. */
  id: string;
  namespace: string;
  spec: RouteSpec;
  /** Who is let in to the webhook, or to the URL of the bot. */
  auth: AuthPolicy;
};

/** More of them are not named to the operator; then their routes are not acknowledged at all. */
const MOST_WAITING = 1_000;

export type RouteTable = {
  /** The active workflow whose webhook has this `<id>/<path>`, not decoded. */
  webhook: (key: string) => Route | undefined;
  /** The active workflow that has the bot with this `<namespace>.<credential>`, not decoded. */
  bot: (key: string) => Route | undefined;
  /** The workflow of this id, active or not. */
  workflow: (id: string) => Route | undefined;
  /** The project of a namespace, as far as one of its workflows is served. */
  project: (namespace: string) => string | undefined;
  /** The namespaces of the workflows that are served. */
  namespaces: () => string[];
  /**
   * Serves an object as it is now, with the keys of the entry that it names, if they are known. False if the object is
   * none that can be served; then nothing is served of it.
   */
  put: (object: KubeObject, keys?: readonly Uint8Array[]) => boolean;
  /** Whether an object is served, as it is now or as it was before. */
  has: (object: KubeObject) => boolean;
  /** Stops serving an object. */
  remove: (object: KubeObject) => void;
  /** What is served, for the Lease. */
  digest: () => string;
  /** The uids of routes that are served as they are now, but for the keys that they name: calls get 503. For the Lease. */
  waiting: () => string[];
  size: () => number;
};

export function createRouteTable(): RouteTable {
  const byObject = new Map<string, Route>();
  const byId = new Map<string, Route>();
  const byWebhook = new Map<string, Route>();
  const byBot = new Map<string, Route>();
  const projects = new Map<string, { uid: string; routes: number }>();
  const digest = emptyDigest();
  const waiting = new Set<string>();
  /** Routes that are not in the digest, because there is no room to say that they wait. */
  const unsaid = new Set<string>();

  /** Which routes wait is said apart from the digest, so that no project can spoil a bucket that others share. */
  function acknowledge({ uid, generation, spec, auth }: Route): void {
    const waits = auth.kind === 'closed' && verificationIn(spec)?.material !== undefined;
    if (waits && waiting.size >= MOST_WAITING) unsaid.add(uid);
    else toggle(digest, uid, generation);
    if (waits) waiting.add(uid);
  }

  function withdraw({ uid, generation }: Route): void {
    waiting.delete(uid);
    if (!unsaid.delete(uid)) toggle(digest, uid, generation);
  }

  function add(key: string, route: Route): void {
    byObject.set(key, route);
    byId.set(route.id, route);
    const webhook = webhookKey(route);
    if (webhook !== undefined) byWebhook.set(webhook, route);
    const bot = botKey(route);
    if (bot !== undefined) byBot.set(bot, route);
    const routes = projects.get(route.namespace)?.routes ?? 0;
    projects.set(route.namespace, { uid: route.spec.projectUID, routes: routes + 1 });
    acknowledge(route);
  }

  function drop(key: string): void {
    const route = byObject.get(key);
    if (route === undefined) return;
    byObject.delete(key);
    if (byId.get(route.id) === route) byId.delete(route.id);
    const webhook = webhookKey(route);
    if (webhook !== undefined && byWebhook.get(webhook) === route) byWebhook.delete(webhook);
    const bot = botKey(route);
    if (bot !== undefined && byBot.get(bot) === route) byBot.delete(bot);
    const project = projects.get(route.namespace);
    if (project !== undefined && project.routes > 1) project.routes -= 1;
    else projects.delete(route.namespace);
    withdraw(route);
  }

  return {
    webhook: (key) => byWebhook.get(key),
    bot: (key) => byBot.get(key),
    workflow: (id) => byId.get(id),
    project: (namespace) => projects.get(namespace)?.uid,
    namespaces: () => [...projects.keys()],
    put: (object, keys) => {
      const key = objectKey(object.metadata);
      const route = parseRoute(object, keys);
      drop(key);
      if (route !== undefined) add(key, route);
      return route !== undefined;
    },
    remove: (object) => drop(objectKey(object.metadata)),
    has: (object) => byObject.has(objectKey(object.metadata)),
    digest: () => formatDigest(digest),
    waiting: () => [...waiting].filter((uid) => !unsaid.has(uid)),
    size: () => byObject.size,
  };
}

function webhookKey({ id, spec }: Route): string | undefined {
  return spec.active && spec.webhook !== undefined ? `${id}/${spec.webhook.path}` : undefined;
}

/** A bot's URL has the name of its Credential, so that another workflow can take over without a new registration. */
function botKey({ namespace, spec }: Route): string | undefined {
  return spec.active && spec.bot !== undefined ? workflowId(namespace, spec.bot.credential) : undefined;
}

function parseRoute(object: KubeObject, keys: readonly Uint8Array[] | undefined): Route | undefined {
  const { uid, generation, namespace } = object.metadata;
  const parsed = routeSpec.safeParse(object.spec);
  if (uid === undefined || generation === undefined || namespace === undefined || !parsed.success)
    return undefined;
  const spec = parsed.data;
  const auth = authPolicyOf(spec, keys);
  return { uid, generation, namespace, id: workflowId(namespace, spec.workflow), spec, auth };
}

/** The entry with the keys that an object's callers are verified with, if it names one. */
export function keyEntryOf(object: KubeObject): string | undefined {
  const parsed = routeSpec.safeParse(object.spec);
  const material = parsed.data && verificationIn(parsed.data)?.material;
  return material === undefined ? undefined : entryName(parsed.data?.workflowUID ?? '', material);
}
