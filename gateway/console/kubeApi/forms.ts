/**
 * Formats of answers and bodies. The caller's headers select one of these and are never forwarded themselves.
 */
import type { AllowedRequest } from './allowlist.ts';

export type Form = 'object' | 'table' | 'metadata';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = {
  get: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  other: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
};

/** The format that the caller prefers; always JSON. */
export function requestedForm(accept: string | undefined): Form {
  const as = /;\s*as=(\w+)/.exec(accept ?? '')?.[1];
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : 'object';
}

/** The Accept header for a format. */
export function acceptHeader(form: Form, verb: AllowedRequest['verb']): string {
  if (form === 'object') return 'application/json';
  // Each event of a watch is one object.
  if (form === 'metadata') return verb === 'list' ? METADATA.other : METADATA.get;
  return TABLE;
}

const WHOLE = ['application/json'];
const MERGE = ['application/merge-patch+json', 'application/apply-patch+yaml'];
const BODIES: Partial<Record<AllowedRequest['verb'], readonly string[]>> = {
  create: WHOLE,
  update: WHOLE,
  delete: WHOLE,
  patch: [...MERGE, 'application/json-patch+json'],
};

/**
 * The Content-Type to forward; undefined if it is not accepted. Secrets accept no JSON patch: it could copy a
 * value to where it is visible.
 */
export function bodyTypeOf(
  { verb, resource }: AllowedRequest,
  contentType: string | undefined,
): string | undefined {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const known = verb === 'patch' && resource === 'secrets' ? MERGE : BODIES[verb];
  return known?.includes(type) === true ? type : undefined;
}
