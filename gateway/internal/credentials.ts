/**
 * Reads a Credential, which holds no secret, with the gateway's own right: the caller was authorised before. For the internal
 * listener alone: calls of strangers must not become reads of the API server.
 */
import { GROUP, VERSION } from '../../api/group.ts';
import { CREDENTIAL, type Credential } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { namespacedResource } from '../../kube/resource.ts';

const credentials = namespacedResource<Credential>(GROUP, VERSION, CREDENTIAL.kind, CREDENTIAL.plural);
/** A person waits. */
const OPTIONS = { timeoutMs: 3_000, retries: 1 };

/** The credential; undefined if there is none. Throws an ApiError if the API server does not answer. */
export async function findCredential(
  { client }: { client: Pick<KubeClient, 'find'> },
  namespace: string,
  name: string,
): Promise<Credential | undefined> {
  return client.find(credentials, { namespace, name }, OPTIONS);
}
