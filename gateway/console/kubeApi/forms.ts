/**
 * In which form an answer of the Kubernetes API is asked for, and in which form a body may be sent: what comes of a caller's
 * headers chooses among these and is never passed on itself.
 */
import type { AllowedRequest } from './allowlist.ts';

export type Form = 'object' | 'table' | 'metadata';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = {
  get: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  other: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
};

/** The form that the caller would rather have. JSON, whatever else it names. */
export function requestedForm(accept: string | undefined): Form {
  const as = /;\s*as=(\w+)/.exec(accept ?? '')?.[1];
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : 'object';
}

/** The Accept header that asks for the form. */
export function acceptHeader(form: Form, verb: AllowedRequest['verb']): string {
  if (form === 'object') return 'application/json';
  // Of a watch each event is one object.
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
 * The type that a body may be sent on with; undefined if it may not. A JSON patch could copy a value of a Secret to where it is
 * shown, so that of Secrets there is none.
 */
export function bodyTypeOf(
  { verb, resource }: AllowedRequest,
  contentType: string | undefined,
): string | undefined {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const known = verb === 'patch' && resource === 'secrets' ? MERGE : BODIES[verb];
  return known?.includes(type) === true ? type : undefined;
}
