/**
 * The writing verbs of the client. A call that may have been processed is repeated only if it is idempotent.
 */
import type { Call, Caller, CallOptions } from './caller.ts';
import { collectionPath, objectPath, requireNamespace, withQuery, type Query } from './paths.ts';
import { goJson } from './json.ts';
import { decode, undefinedIfAbsent } from './reads.ts';
import { apiVersionOf, type KubeObject, type ObjectMeta, type ObjectRef, type Resource } from './resource.ts';

const applyType = 'application/apply-patch+yaml';
const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

type WriteOptions = CallOptions & { fieldManager?: string; dryRun?: boolean };

type CreateOptions = WriteOptions & {
  /**
   * Sends the object as the API server would write it: it compares the texts of fields that must not change
   * and have no schema.
   */
  canonical?: boolean;
};

export type ApplyOptions = WriteOptions & {
  /** Whether to take over fields of other managers; default true. */
  force?: boolean;
  subresource?: 'status';
};

type PatchOptions = WriteOptions & { type: 'merge' | 'json' | 'strategic'; subresource?: string };

type DeleteOptions = CallOptions & {
  propagation?: 'Foreground' | 'Background' | 'Orphan';
  preconditions?: { uid?: string; resourceVersion?: string };
  gracePeriodSeconds?: number;
};

/** An object to write. The client fills in apiVersion and kind; other members are optional. */
export type Manifest<T extends KubeObject> = Partial<Omit<T, 'metadata'>> & { metadata: ObjectMeta };

/**
 * An object to create. The server may generate its name (`generateName`) or accept it without one (reviews).
 */
export type Draft<T extends KubeObject> = Partial<Omit<T, 'metadata'>> & { metadata?: Partial<ObjectMeta> };

export type WritingVerbs = {
  /** Never repeated if it may have been processed. */
  create<T extends KubeObject>(resource: Resource<T>, object: Draft<T>, options?: CreateOptions): Promise<T>;
  /** PUT. With a resourceVersion in the object it throws a conflict if the object changed meanwhile. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: Manifest<T>,
    options?: WriteOptions & { subresource?: 'status' },
  ): Promise<T>;
  /** Server-side apply; creates the object if it does not exist. */
  apply<T extends KubeObject>(resource: Resource<T>, object: Manifest<T>, options?: ApplyOptions): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions,
  ): Promise<T>;
  /** Whether the object existed. Throws a conflict if a precondition fails. */
  delete(resource: Resource, ref: ObjectRef, options?: DeleteOptions): Promise<boolean>;
};

export function writingVerbs(caller: Caller, fieldManager: string): WritingVerbs {
  async function send<T extends KubeObject>(
    resource: Resource<T>,
    call: Omit<Call, 'resource' | 'options'>,
    options: WriteOptions | undefined,
    query: Query = {},
  ): Promise<T> {
    const path = withQuery(call.path, {
      fieldManager: options?.fieldManager ?? fieldManager,
      dryRun: options?.dryRun === true ? 'All' : undefined,
      ...query,
    });
    return decode(resource, await caller.call({ ...call, path, resource: resource.plural, options }));
  }

  return {
    create: async (resource, object, options) => {
      const { namespace, name, generateName } = object.metadata ?? {};
      requireNamespace(resource, namespace, name ?? generateName ?? '');
      const path = collectionPath(resource, namespace);
      const given = typed(resource, object);
      const body = options?.canonical === true ? goJson(given) : given;
      return send(resource, { verb: 'create', method: 'POST', path, body, idempotent: false }, options);
    },
    replace: async (resource, object, options) => {
      const path = objectPath(resource, object.metadata, options?.subresource);
      const body = typed(resource, object);
      return send(resource, { verb: 'update', method: 'PUT', path, body, idempotent: true }, options);
    },
    apply: async (resource, object, options) => {
      const path = objectPath(resource, object.metadata, options?.subresource);
      const body = typed(resource, object);
      const call = { verb: 'apply', method: 'PATCH', path, body, contentType: applyType, idempotent: true };
      return send(resource, call, options, { force: options?.force === false ? undefined : 'true' });
    },
    patch: async (resource, ref, body, options) => {
      const path = objectPath(resource, ref, options.subresource);
      const contentType = patchTypes[options.type];
      // A merge patch states the result; the other types may state operations, which must not be applied
      // twice.
      const idempotent = options.type === 'merge';
      return send(resource, { verb: 'patch', method: 'PATCH', path, body, contentType, idempotent }, options);
    },
    delete: (resource, ref, options) => remove(caller, resource, ref, options),
  };
}

async function remove(
  caller: Caller,
  resource: Resource,
  ref: ObjectRef,
  options: DeleteOptions = {},
): Promise<boolean> {
  const { propagation, preconditions, gracePeriodSeconds } = options;
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: propagation,
    preconditions,
    gracePeriodSeconds,
  };
  const path = objectPath(resource, ref);
  const call = { verb: 'delete', method: 'DELETE', path, body, idempotent: true };
  const answer = caller.call({ ...call, resource: resource.plural, options });
  return (await answer.catch(undefinedIfAbsent)) !== undefined;
}

function typed<T extends KubeObject>(resource: Resource<T>, object: Draft<T>): object {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
