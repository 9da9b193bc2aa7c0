/**
 * The part of the Kubernetes API that the console needs, and the check of requests against it. Everything
 * else is refused. A checked request is rebuilt from its parts, so that nothing reads it differently later.
 */
import { GROUP, VERSION } from '../../../api/group.ts';

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

const READ: readonly Verb[] = ['get', 'list', 'watch'];
const WRITE: readonly Verb[] = ['create', 'patch', 'delete'];

/** By group and version, then by resource. RBAC decides who may do what of it. */
const NEEDED: Record<string, Record<string, { verbs: readonly Verb[]; clusterWide?: true }>> = {
  [`apis/${GROUP}/${VERSION}`]: {
    workflows: { verbs: [...READ, ...WRITE, 'update'] },
    workflowdrafts: { verbs: [...READ, ...WRITE] },
    workflowruns: { verbs: [...READ, ...WRITE] },
    credentials: { verbs: [...READ, ...WRITE, 'update'] },
    webhookroutes: { verbs: READ },
    projectsettings: { verbs: READ },
  },
  'api/v1': {
    namespaces: { verbs: ['get', 'list'], clusterWide: true },
    events: { verbs: ['list', 'watch'] },
    // Redacted in secrets.ts.
    secrets: { verbs: ['get', 'list', 'create', 'patch'] },
  },
  'apis/apps/v1': { controllerrevisions: { verbs: ['get', 'list'] } },
  'apis/authorization.k8s.io/v1': {
    selfsubjectaccessreviews: { verbs: ['create'], clusterWide: true },
    selfsubjectrulesreviews: { verbs: ['create'], clusterWide: true },
  },
  'apis/authentication.k8s.io/v1': { selfsubjectreviews: { verbs: ['create'], clusterWide: true } },
};

const CHOOSING = ['labelSelector', 'fieldSelector', 'resourceVersion', 'resourceVersionMatch'];
const WRITING = ['dryRun', 'fieldManager', 'fieldValidation'];
const PARAMETERS: Record<Verb, readonly string[]> = {
  get: ['resourceVersion', 'includeObject'],
  list: [...CHOOSING, 'limit', 'continue', 'timeoutSeconds', 'includeObject', 'watch'],
  watch: [
    ...CHOOSING,
    'timeoutSeconds',
    'includeObject',
    'watch',
    'allowWatchBookmarks',
    'sendInitialEvents',
  ],
  create: WRITING,
  update: WRITING,
  patch: [...WRITING, 'force'],
  delete: ['dryRun', 'propagationPolicy', 'gracePeriodSeconds'],
};

/** A request that is on the list. */
export type AllowedRequest = {
  verb: Verb;
  resource: string;
  path: string;
  query: URLSearchParams;
};

/** Checks method, path and query of a Kubernetes API request; undefined if it is not on the list. */
export function checkRequest(method: string, url: string): AllowedRequest | undefined {
  const at = url.indexOf('?');
  const path = at === -1 ? url : url.slice(0, at);
  const query = readQuery(at === -1 ? '' : url.slice(at + 1));
  const addressed = parsePath(path);
  const verb = query && addressed && verbOf(method, addressed.name !== undefined, query);
  if (query === undefined || addressed === undefined || verb === undefined) return undefined;
  const { base, resource, isClusterWide } = addressed;
  const needed = Object.hasOwn(NEEDED, base) ? NEEDED[base] : undefined;
  const rule = needed && Object.hasOwn(needed, resource) ? needed[resource] : undefined;
  if (rule === undefined || (rule.clusterWide === true) !== isClusterWide) return undefined;
  if (!rule.verbs.includes(verb)) return undefined;
  const known = PARAMETERS[verb];
  return [...query.keys()].every((name) => known.includes(name))
    ? { verb, resource, path, query }
    : undefined;
}

/** Path and query as sent. */
export function requestTarget({ path, query }: Pick<AllowedRequest, 'path' | 'query'>): string {
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

type Addressed = { base: string; resource: string; name: string | undefined; isClusterWide: boolean };

/**
 * A name of an object, group, version or resource. Without escapes and single dots a path has one reading.
 */
const SEGMENT = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** A collection or an object. Subresources have one segment too many. */
function parsePath(path: string): Addressed | undefined {
  const [root, ...segments] = path.split('/');
  if (root !== '' || !segments.every((segment) => segment.length <= 253 && SEGMENT.test(segment)))
    return undefined;
  const base = segments.splice(0, segments[0] === 'apis' ? 3 : 2).join('/');
  const isClusterWide = segments[0] !== 'namespaces' || segments.length < 3;
  const [resource, name, ...rest] = isClusterWide ? segments : segments.slice(2);
  return resource === undefined || rest.length > 0 ? undefined : { base, resource, name, isClusterWide };
}

/**
 * Undefined for ambiguous queries: repeated parameters, and values of `watch` that the API server would read
 * as true.
 */
function readQuery(text: string): URLSearchParams | undefined {
  if (text.includes(';')) return undefined;
  const query = new URLSearchParams(text);
  const isOnce = new Set(query.keys()).size === query.size;
  return isOnce && ['true', 'false', null].includes(query.get('watch')) ? query : undefined;
}

const VERBS_OF_NAMED: Partial<Record<string, Verb>> = {
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function verbOf(method: string, isNamed: boolean, query: URLSearchParams): Verb | undefined {
  if (isNamed) return VERBS_OF_NAMED[method];
  if (method === 'POST') return 'create';
  if (method !== 'GET') return undefined;
  return query.get('watch') === 'true' ? 'watch' : 'list';
}
