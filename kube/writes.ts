/**
 * The verbs of a client that write. What may have been processed is sent again only where that changes
 * nothing.
 */
import type { Call, Caller } from './caller.ts';
import type { DeleteOptions, Draft, KubeClient, WriteOptions } from './client.ts';
import { collectionPath, objectPath, requireNamespace, withQuery, type Query } from './paths.ts';
import { decode, undefinedIfAbsent } from './reads.ts';
import { apiVersionOf, type KubeObject, type ObjectRef, type Resource } from './resource.ts';

const applyType = 'application/apply-patch+yaml';
const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

type WritingVerbs = Pick<KubeClient, 'create' | 'replace' | 'apply' | 'patch' | 'delete'>;

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
      const body = typed(resource, object);
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
      // A merge patch says what shall be; the others may say what to do, and must not do it twice.
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
