/** Paths and queries of the API server, with each part escaped. */
import { objectKey, type ObjectRef, type Resource } from './resource.ts';

export type Query = Record<string, string | undefined>;

/** The path of all objects of a kind, in one namespace or in all. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const base =
    resource.group === ''
      ? `/api/${resource.version}`
      : `/apis/${encodeURIComponent(resource.group)}/${resource.version}`;
  const scope =
    resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${base}${scope}/${resource.plural}`;
}

/**
 * The path of an object or its subresource. Throws for an empty name, or a namespaced kind without a
 * namespace: they would address something else.
 */
export function objectPath(resource: Resource, ref: ObjectRef, subresource?: string): string {
  if (ref.name === '') throw new Error(`A ${resource.kind} needs a name.`);
  requireNamespace(resource, ref.namespace, objectKey(ref));
  // Escaping does not change dots, and dot segments lead to another URL.
  if (/^\.\.?$/.test(ref.name) || /^\.\.?$/.test(ref.namespace ?? ''))
    throw new Error(`"${objectKey(ref)}" is no name.`);
  const path = `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Throws if the kind is namespaced and no namespace is given. */
export function requireNamespace(resource: Resource, namespace: string | undefined, name: string): void {
  if (resource.namespaced && (namespace === undefined || namespace === '')) {
    throw new Error(`${resource.kind} ${name} needs a namespace.`);
  }
}

/** Path and query. Parameters without a value are left out. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, value);
  }
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}
