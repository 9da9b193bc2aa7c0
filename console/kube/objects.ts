/** Reads and writes objects with the rights of the user. */
import { call, callJson } from '../http/call.ts';
import { apiVersionOf, listPath, objectPath, type KubeObject, type Resource } from './resources.ts';
import { readTable, TABLE_TYPE, type TablePage } from './table.ts';

/** The field manager of the console's changes. */
export const FIELD_MANAGER = 'windlass-console';

/** Longer than the gateway waits for the API server. */
const TIMEOUT_MS = 45_000;

export type ListOptions = {
  limit?: number;
  continue?: string;
  fieldSelector?: string;
  labelSelector?: string;
  signal?: AbortSignal;
};

type WriteOptions = {
  dryRun?: boolean;
  /** Leaves out fields that do not exist. Otherwise the API server refuses them. */
  ignoresUnknownFields?: boolean;
  signal?: AbortSignal;
};

/** Throws an ApiFailure, with status 404 if the object does not exist. */
export function getObject<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  name: string,
  signal?: AbortSignal,
): Promise<T> {
  const path = `/kube${objectPath(resource, namespace, name)}`;
  return callJson<T>(path, { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) });
}

/** A page of whole objects, for kinds without a useful Table. */
export async function listObjects<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  options: ListOptions = {},
): Promise<{ items: T[]; resourceVersion: string; continue?: string }> {
  type Page = { items: T[]; metadata: { resourceVersion: string; continue?: string } };
  const { items, metadata } = await callJson<Page>(
    `/kube${listPath(resource, namespace)}${queryOf(options)}`,
    options.signal ? { signal: options.signal } : {},
  );
  const { resourceVersion, continue: token = '' } = metadata;
  return { items, resourceVersion, ...(token !== '' && { continue: token }) };
}

export async function listTable(
  resource: Resource,
  namespace: string,
  options: ListOptions = {},
): Promise<TablePage & { columns: string[] }> {
  const path = `/kube${listPath(resource, namespace)}${queryOf(options)}`;
  const wire = await callJson(path, {
    accept: TABLE_TYPE,
    ...(options.signal && { signal: options.signal }),
  });
  return readTable(wire);
}

/** With `dryRun` the object is validated but not stored. */
export function createObject<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  object: Omit<T, 'apiVersion' | 'kind'>,
  options: WriteOptions = {},
): Promise<T> {
  const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
  const path = `/kube${listPath(resource, namespace)}${writeQuery(options)}`;
  const { signal } = options;
  return callJson<T>(path, { method: 'POST', body, timeoutMs: TIMEOUT_MS, ...(signal && { signal }) });
}

/** Applies a merge patch (RFC 7396). If it contains `metadata.resourceVersion`, a conflict fails with 409. */
export function patchObject<T extends KubeObject>(
  resource: Resource<T>,
  at: { namespace: string; name: string },
  patch: object,
  options: WriteOptions = {},
): Promise<T> {
  const path = `/kube${objectPath(resource, at.namespace, at.name)}${writeQuery(options)}`;
  return callJson<T>(path, {
    method: 'PATCH',
    body: patch,
    contentType: 'application/merge-patch+json',
    timeoutMs: TIMEOUT_MS,
    ...(options.signal && { signal: options.signal }),
  });
}

/** An operation of a JSON patch (RFC 6902): `add` also replaces a member. */
export type AddOperation = { op: 'add'; path: string; value: unknown };

/**
 * Applies a JSON patch, which keeps null where a value holds it: the API server drops null from the values of
 * a merge patch, in lists too. A `resourceVersion` that is not the current one fails with 409.
 */
export function applyOperations<T extends KubeObject>(
  resource: Resource<T>,
  at: { namespace: string; name: string },
  operations: readonly AddOperation[],
): Promise<T> {
  const path = `/kube${objectPath(resource, at.namespace, at.name)}${writeQuery({})}`;
  return callJson<T>(path, {
    method: 'PATCH',
    body: operations,
    contentType: 'application/json-patch+json',
    timeoutMs: TIMEOUT_MS,
  });
}

/**
 * Deletes the object, and its dependents in the background. With `preconditions` it fails with 409 if the
 * object is another one or was changed.
 */
export async function deleteObject(
  resource: Resource,
  namespace: string,
  name: string,
  preconditions?: { uid?: string; resourceVersion?: string },
): Promise<void> {
  await call(`/kube${objectPath(resource, namespace, name)}?propagationPolicy=Background`, {
    method: 'DELETE',
    timeoutMs: TIMEOUT_MS,
    ...(preconditions && { body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions } }),
  });
}

function queryOf({ limit, continue: token, fieldSelector, labelSelector }: ListOptions): string {
  return queryText({
    limit: limit === undefined ? undefined : String(limit),
    continue: token,
    fieldSelector,
    labelSelector,
  });
}

function writeQuery({ dryRun, ignoresUnknownFields = false }: WriteOptions): string {
  return queryText({
    fieldManager: FIELD_MANAGER,
    fieldValidation: ignoresUnknownFields ? 'Ignore' : 'Strict',
    dryRun: dryRun === true ? 'All' : undefined,
  });
}

function queryText(parts: Record<string, string | undefined>): string {
  const given = Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
