/** The verbs of a client that write. What may have been processed is sent again only where that changes nothing. */
import type { Caller } from './caller.ts';
import type { KubeClient, Manifest, WriteOptions } from './client.ts';
import { collectionPath, objectPath, requireNamespace, withQuery, type Query } from './paths.ts';
import { decode, undefinedIfAbsent } from './reads.ts';
import { apiVersionOf, type KubeObject, type Resource } from './resource.ts';

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

export function writingVerbs(
  caller: Caller,
  fieldManager: string,
): Pick<KubeClient, 'create' | 'replace' | 'apply' | 'patch' | 'delete'> {
  const writeQuery = (options: WriteOptions | undefined): Query => ({
    fieldManager: options?.fieldManager ?? fieldManager,
    dryRun: options?.dryRun === true ? 'All' : undefined,
  });

  return {
    create: async (resource, object, options) => {
      const { namespace, name, generateName } = object.metadata;
      requireNamespace(resource, namespace, name ?? generateName ?? '');
      return decode(
        await caller.call({
          verb: 'create',
          resource: resource.plural,
          method: 'POST',
          path: withQuery(collectionPath(resource, namespace), writeQuery(options)),
          body: typed(resource, object),
          idempotent: false,
          options,
        }),
      );
    },
    replace: async (resource, object, options) =>
      decode(
        await caller.call({
          verb: 'update',
          resource: resource.plural,
          method: 'PUT',
          path: withQuery(objectPath(resource, object.metadata, options?.subresource), writeQuery(options)),
          body: typed(resource, object),
          idempotent: true,
          options,
        }),
      ),
    apply: async (resource, object, options) => {
      const query = { ...writeQuery(options), force: options?.force === false ? undefined : 'true' };
      return decode(
        await caller.call({
          verb: 'apply',
          resource: resource.plural,
          method: 'PATCH',
          path: withQuery(objectPath(resource, object.metadata, options?.subresource), query),
          body: typed(resource, object),
          contentType: 'application/apply-patch+yaml',
          idempotent: true,
          options,
        }),
      );
    },
    patch: async (resource, ref, body, options) =>
      decode(
        await caller.call({
          verb: 'patch',
          resource: resource.plural,
          method: 'PATCH',
          path: withQuery(objectPath(resource, ref, options.subresource), writeQuery(options)),
          body,
          contentType: patchTypes[options.type],
          // A merge patch says what shall be; the others may say what to do, and must not do it twice.
          idempotent: options.type === 'merge',
          options,
        }),
      ),
    delete: async (resource, ref, options) => {
      const { propagation, preconditions, gracePeriodSeconds } = options ?? {};
      const answer = await caller
        .call({
          verb: 'delete',
          resource: resource.plural,
          method: 'DELETE',
          path: objectPath(resource, ref),
          body: {
            apiVersion: 'v1',
            kind: 'DeleteOptions',
            ...(propagation !== undefined && { propagationPolicy: propagation }),
            ...(preconditions !== undefined && { preconditions }),
            ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
          },
          idempotent: true,
          options,
        })
        .catch(undefinedIfAbsent);
      return answer !== undefined;
    },
  };
}

function typed<T extends KubeObject>(resource: Resource<T>, object: Manifest<T>): object {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
