/** Refusals that need more words than the API server has for them. Pure. */
import { ApiFailure, failureFrom } from '../http/failure.ts';

/** The failure of storing a credential, so that it says what to ask for. */
export function explainedRefusal(error: unknown, namespace: string): ApiFailure {
  const failure = failureFrom(error);
  if (failure.status !== 403) return failure;
  const { status, reason, detail } = failure;
  if (detail.includes('must be allowed to read it'))
    return new ApiFailure({
      status,
      reason,
      title: 'You may not use this Secret',
      detail: `Changing a credential needs the right to read every Secret that it names or named; for a connected account also windlass-tokens. Ask an administrator of the project ${namespace} for the right to get these Secrets. The API server says: ${detail}`,
    });
  if (/\bsecrets\b/.test(detail))
    return new ApiFailure({
      status,
      reason,
      title: 'You may not write Secrets',
      detail: `What you typed belongs into a Secret. Ask whoever manages the project ${namespace} for the rights to get, create and patch Secrets there, or name a Secret that somebody else has made. The API server says: ${detail}`,
    });
  return failure;
}
