/** Explains refusals of the API server that need more context. Pure. */
import { ApiFailure, failureFrom } from '../http/failure.ts';

/** The failure of storing a credential, with the permissions to ask for. */
export function explainRefusal(error: unknown, namespace: string): ApiFailure {
  const failure = failureFrom(error);
  const { status, reason, detail } = failure;
  if (status === 409 && /^credentials\.windlass\.dev "[^"]*" already exists/.test(detail))
    return new ApiFailure({
      status,
      reason,
      title: 'This name is taken',
      detail: `The project ${namespace} has a credential of this name. Enter another name.`,
    });
  if (status !== 403) return failure;
  if (detail.includes('must be allowed to read it'))
    return new ApiFailure({
      status,
      reason,
      title: 'You are not allowed to use this Secret',
      detail: `To change a credential you need permission to read every Secret that it refers to now or did before, and windlass-tokens for a connected account. Ask an administrator of the project ${namespace} for the verb "get" on these Secrets. API server: ${detail}`,
    });
  if (/\bsecrets\b/.test(detail))
    return new ApiFailure({
      status,
      reason,
      title: 'You are not allowed to write Secrets',
      detail: `The value must be stored in a Secret. Ask an administrator of the project ${namespace} for the verbs "get", "create" and "patch" on Secrets, or use an existing Secret. API server: ${detail}`,
    });
  return failure;
}
