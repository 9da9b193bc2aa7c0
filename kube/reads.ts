/** The verbs of a client that read. */
import type { Caller, CallOptions } from './caller.ts';
import type { KubeClient, ListOptions } from './client.ts';
import { isGone, isNotFound } from './errors.ts';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import { apiVersionOf, type KubeList, type KubeObject, type ObjectRef, type Resource } from './resource.ts';

const pageSize = 500;

export function readingVerbs(caller: Caller): Pick<KubeClient, 'get' | 'find' | 'list' | 'listAll'> {
  async function get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: CallOptions,
  ): Promise<T> {
    const path = objectPath(resource, ref);
    return decode(
      await caller.call({
        verb: 'get',
        resource: resource.plural,
        method: 'GET',
        path,
        idempotent: true,
        options,
      }),
    );
  }

  async function list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<T>> {
    const path = withQuery(collectionPath(resource, options.namespace), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit?.toString(),
      continue: options.continue,
      resourceVersion: options.resourceVersion,
    });
    const body = decode<KubeList<T>>(
      await caller.call({
        verb: 'list',
        resource: resource.plural,
        method: 'GET',
        path,
        idempotent: true,
        options,
      }),
    );
    // Built-in kinds come without these in lists.
    const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    return { metadata: body.metadata, items: (body.items ?? []).map((item) => ({ ...item, ...typed })) };
  }

  /** All pages, from a `continue` token that may expire on the way. */
  async function pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
  ): Promise<KubeList<T>> {
    const first = await list(resource, options);
    const items = first.items;
    let next = first.metadata.continue;
    while (next !== undefined && next !== '') {
      const page = await list(resource, { ...options, continue: next });
      items.push(...page.items);
      next = page.metadata.continue;
    }
    return {
      metadata: {
        ...(first.metadata.resourceVersion !== undefined && {
          resourceVersion: first.metadata.resourceVersion,
        }),
      },
      items,
    };
  }

  async function listAll<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<T>> {
    const { limit = pageSize, continue: _continue, ...rest } = options;
    try {
      return await pages(resource, { ...rest, limit });
    } catch (error) {
      if (!isGone(error)) throw error;
      // Pages were read more slowly than etcd compacts: one list without pages cannot expire.
      return await list(resource, rest);
    }
  }

  return {
    get,
    find: (resource, ref, options) => get(resource, ref, options).catch(undefinedIfAbsent),
    list,
    listAll,
  };
}

/** The server's answer is taken at its word: its schema was checked there, when the object was written. */
export function decode<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** For calls where absence is an answer and no failure. */
export function undefinedIfAbsent(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
