/**
 * The routes that this replica serves, in memory: one look-up by workflow ID, or by the path of a webhook or
 * bot. Maintains the digest that the replica's Lease acknowledges.
 */
import { routeSpec, verificationIn, type RouteSpec } from '../../api/route.ts';
import { workflowId } from '../../api/group.ts';
import { emptyDigest, formatDigest, toggle } from '../../api/routes.ts';
import { entryName } from '../../api/webhookAuth.ts';
import { objectKey, type KubeObject } from '../../kube/resource.ts';
import { authPolicyOf, type AuthPolicy } from '../verify/authPolicy.ts';

/** A served workflow. */
export type Route = {
  uid: string;
  generation: number;
  /** `<namespace>.<name>`. */
  id: string;
  namespace: string;
  spec: RouteSpec;
  /** Who may call the webhook, bot or chat. */
  auth: AuthPolicy;
};

/** More are not reported to the operator; their routes are not acknowledged then. */
const MAX_WAITING = 1_000;

export type RouteTable = {
  /** The active workflow, or the listening test run, with the webhook `<id>/<path>`, not decoded. */
  webhook: (key: string) => Route | undefined;
  /** The active workflow with the bot `<namespace>.<credential>`, not decoded. */
  bot: (key: string) => Route | undefined;
  /** The active workflow with the chat of this ID. */
  chat: (id: string) => Route | undefined;
  /** The workflow with this ID, active or not. */
  workflow: (id: string) => Route | undefined;
  /** The workflow with this uid, active or not. */
  workflowOfUid: (uid: string) => Route | undefined;
  /** The project of a namespace with a served workflow. */
  project: (namespace: string) => string | undefined;
  /** Whether a workflow of the project is served. */
  hasProject: (uid: string) => boolean;
  /** The namespaces of served workflows. */
  namespaces: () => string[];
  /**
   * Serves the object, with the keys of its entry if known. False, and it is not served, if the object is
   * invalid.
   */
  put: (object: KubeObject, keys?: readonly Uint8Array[]) => boolean;
  /** Whether any version of the object is served. */
  has: (object: KubeObject) => boolean;
  /** Stops serving the object. */
  remove: (object: KubeObject) => void;
  /** For the Lease. */
  digest: () => string;
  /** UIDs of routes that are served but still lack their keys: calls get 503. For the Lease. */
  waiting: () => string[];
  size: () => number;
};

export function createRouteTable(): RouteTable {
  const byObject = new Map<string, Route>();
  const byId = new Map<string, Route>();
  const byWorkflowUid = new Map<string, Route>();
  const byWebhook = new Map<string, Route>();
  const byBot = new Map<string, Route>();
  const byChat = new Map<string, Route>();
  const projects = new Map<string, { uid: string; routes: number }>();
  /** How many routes each project has, by its uid. */
  const byProject = new Map<string, number>();
  const digest = emptyDigest();
  const waiting = new Set<string>();
  /** Waiting routes beyond MAX_WAITING, left out of the digest. */
  const unreported = new Set<string>();

  /**
   * Waiting routes are reported apart from the digest, so that no project can spoil a bucket that others
   * share.
   */
  function acknowledge({ uid, generation, spec, auth }: Route): void {
    const waits = auth.kind === 'closed' && verificationIn(spec)?.material !== undefined;
    if (waits && waiting.size >= MAX_WAITING) unreported.add(uid);
    else toggle(digest, uid, generation);
    if (waits) waiting.add(uid);
  }

  function withdraw({ uid, generation }: Route): void {
    waiting.delete(uid);
    if (!unreported.delete(uid)) toggle(digest, uid, generation);
  }

  function add(key: string, route: Route): void {
    byObject.set(key, route);
    // A test run has the id of its workflow, and no say in what that does.
    if (route.spec.testRun === undefined) {
      byId.set(route.id, route);
      byWorkflowUid.set(route.spec.workflowUID, route);
    }
    const webhook = webhookKey(route);
    if (webhook !== undefined) byWebhook.set(webhook, route);
    const bot = botKey(route);
    if (bot !== undefined) byBot.set(bot, route);
    const chat = chatKey(route);
    if (chat !== undefined) byChat.set(chat, route);
    const routes = projects.get(route.namespace)?.routes ?? 0;
    projects.set(route.namespace, { uid: route.spec.projectUID, routes: routes + 1 });
    byProject.set(route.spec.projectUID, (byProject.get(route.spec.projectUID) ?? 0) + 1);
    acknowledge(route);
  }

  function drop(key: string): void {
    const route = byObject.get(key);
    if (route === undefined) return;
    byObject.delete(key);
    dropFrom(byId, route.id, route);
    dropFrom(byWorkflowUid, route.spec.workflowUID, route);
    dropFrom(byWebhook, webhookKey(route), route);
    dropFrom(byBot, botKey(route), route);
    dropFrom(byChat, chatKey(route), route);
    const project = projects.get(route.namespace);
    if (project !== undefined && project.routes > 1) project.routes -= 1;
    else projects.delete(route.namespace);
    const left = (byProject.get(route.spec.projectUID) ?? 1) - 1;
    if (left > 0) byProject.set(route.spec.projectUID, left);
    else byProject.delete(route.spec.projectUID);
    withdraw(route);
  }

  return {
    webhook: (key) => byWebhook.get(key),
    bot: (key) => byBot.get(key),
    chat: (id) => byChat.get(id),
    workflow: (id) => byId.get(id),
    workflowOfUid: (uid) => byWorkflowUid.get(uid),
    project: (namespace) => projects.get(namespace)?.uid,
    hasProject: (uid) => (byProject.get(uid) ?? 0) > 0,
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
    waiting: () => [...waiting].filter((uid) => !unreported.has(uid)),
    size: () => byObject.size,
  };
}

/** Removes the key if it is the route's: another one may have it by now. */
function dropFrom(routes: Map<string, Route>, key: string | undefined, route: Route): void {
  if (key !== undefined && routes.get(key) === route) routes.delete(key);
}

function webhookKey({ id, spec }: Route): string | undefined {
  const isOpen = spec.active || spec.testRun !== undefined;
  return isOpen && spec.webhook !== undefined ? `${id}/${spec.webhook.path}` : undefined;
}

/** A bot's URL names its Credential, so that another workflow can take over without a new registration. */
function botKey({ namespace, spec }: Route): string | undefined {
  return spec.active && spec.bot !== undefined ? workflowId(namespace, spec.bot.credential) : undefined;
}

function chatKey({ spec }: Route): string | undefined {
  return spec.active ? spec.chat?.id : undefined;
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

/** The entry with the object's verification keys, if it names one. */
export function keyEntryOf(object: KubeObject): string | undefined {
  const parsed = routeSpec.safeParse(object.spec);
  const material = parsed.data && verificationIn(parsed.data)?.material;
  return material === undefined ? undefined : entryName(parsed.data?.workflowUID ?? '', material);
}
