/** The reading verbs of the client. */
import type { Caller, CallOptions } from './caller.ts';
import { isGone, isNotFound } from './errors.ts';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import { apiVersionOf, type KubeList, type KubeObject, type ObjectRef, type Resource } from './resource.ts';

type ListOptions = CallOptions & {
  /** All namespaces when left out. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
};

export type ReadingVerbs = {
  /** Throws an ApiError with status 404 if the object does not exist. */
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** Undefined if the object does not exist. */
  find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: CallOptions,
  ): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Reads all pages of 500. Starts again if the list expires meanwhile. */
  listAll<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
};

const pageSize = 500;
/** A list of large objects takes long. */
const listTimeoutMs = 30_000;

type List = ReadingVerbs['list'];

export function readingVerbs(caller: Caller): ReadingVerbs {
  async function get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: CallOptions,
  ): Promise<T> {
    const path = objectPath(resource, ref);
    const call = { verb: 'get', resource: resource.plural, method: 'GET', path, idempotent: true, options };
    return decode(resource, await caller.call(call));
  }

  const list: List = async (resource, given = {}) => {
    const options = { timeoutMs: listTimeoutMs, ...given };
    const path = withQuery(collectionPath(resource, options.namespace), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit?.toString(),
      continue: options.continue,
      resourceVersion: options.resourceVersion,
    });
    const call = { verb: 'list', resource: resource.plural, method: 'GET', path, idempotent: true, options };
    return decodeList(resource, await caller.call(call));
  };

  return {
    get,
    find: (resource, ref, options) => get(resource, ref, options).catch(undefinedIfAbsent),
    list,
    listAll: (resource, options) => listAll(list, resource, options),
  };
}

async function listAll<T extends KubeObject>(
  list: List,
  resource: Resource<T>,
  options: ListOptions = {},
): Promise<KubeList<T>> {
  const { limit = pageSize, continue: _continue, ...rest } = options;
  try {
    return await pages(list, resource, { ...rest, limit });
  } catch (error) {
    if (!isGone(error)) throw error;
    // The continue token expired, because etcd was compacted: one list without pages cannot expire.
    return await list(resource, rest);
  }
}

/** All pages have the resourceVersion of the first. Throws 410 if the token expires meanwhile. */
async function pages<T extends KubeObject>(
  list: List,
  resource: Resource<T>,
  options: ListOptions,
): Promise<KubeList<T>> {
  const first = await list(resource, options);
  const { continue: token, resourceVersion } = first.metadata;
  let next = token;
  while (next !== undefined && next !== '') {
    const page = await list(resource, { ...options, continue: next });
    first.items.push(...page.items);
    next = page.metadata.continue;
  }
  return { metadata: resourceVersion === undefined ? {} : { resourceVersion }, items: first.items };
}

/** Fills in kind and apiVersion, which items of lists of built-in kinds lack. */
function decodeList<T extends KubeObject>(resource: Resource<T>, text: string): KubeList<T> {
  const { metadata, items } = JSON.parse(text) as { metadata: KubeList<T>['metadata']; items: T[] | null };
  const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return { metadata, items: (items ?? []).map((item) => ({ ...item, ...typed })) };
}

/** The answer is not validated: the server checked the schema when the object was written. */
export function decode<T extends KubeObject>(_resource: Resource<T>, text: string): T {
  return JSON.parse(text) as T;
}

/** Maps a 404 to undefined. */
export function undefinedIfAbsent(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
