/**
 * Requests for a check by the annotation `windlass.dev/check` of a Credential. Each value causes one check.
 * Pure.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { Credential } from '../../api/kinds.ts';

/** The longest value that the status can hold. */
const LONGEST = 64;

/** The value of the annotation; undefined if there is none, or if the status cannot hold it. */
export function requestedCheck({ metadata }: Pick<Credential, 'metadata'>): string | undefined {
  const value = metadata.annotations?.[ANNOTATION.check];
  return value === undefined || value === '' || value.length > LONGEST ? undefined : value;
}

/** Whether a requested check was not made yet. */
export function isCheckRequested(credential: Pick<Credential, 'metadata' | 'status'>): boolean {
  const requested = requestedCheck(credential);
  return requested !== undefined && credential.status?.check !== requested;
}
