/** Who asks for a check now: the annotation `windlass.dev/check` of a Credential, which is obeyed once per value. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import type { Credential } from '../../api/kinds.ts';

/** What the status holds of a value. */
const LONGEST = 64;

/** The value of the annotation; undefined where there is none, or none that could be told as granted. */
export function requestedCheck({ metadata }: Pick<Credential, 'metadata'>): string | undefined {
  const value = metadata.annotations?.[ANNOTATION.check];
  return value === undefined || value === '' || value.length > LONGEST ? undefined : value;
}

/** Whether a check is asked for that was not made yet. */
export function isCheckRequested(credential: Pick<Credential, 'metadata' | 'status'>): boolean {
  const wish = requestedCheck(credential);
  return wish !== undefined && credential.status?.check !== wish;
}
