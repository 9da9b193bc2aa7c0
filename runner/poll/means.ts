/**
 * What pollers use of the project: the egress, and the credentials as the API server has them when the pod first needs one.
 * Loaded only then: most pods find nothing due.
 */
import type { Credential } from '../../api/kinds.ts';
import { createClient } from '../../kube/client.ts';
import { inClusterConnection, kubeconfigConnection } from '../../kube/config.ts';
import type { Log } from '../../kube/log.ts';
import { createEgress } from '../../nodes/egress/egress.ts';
import { rulesInPod } from '../../nodes/egress/rules.ts';
import { StepError } from '../../api/reasons.ts';
import { createCredentials, credentialResource } from '../credentials.ts';
import { createSecretReader } from '../secrets.ts';
import type { PollConfig } from './config.ts';
import type { Means } from './look.ts';

const LIST_TIMEOUT_MS = 10_000;

/** Connects with the API server. Its answers are kept: a pod lives for about a minute. */
export async function openMeans(config: PollConfig, log: Log): Promise<Means> {
  const { namespace, kubeconfig, env, egress } = config;
  const connection = kubeconfig ? await kubeconfigConnection(kubeconfig) : inClusterConnection(env);
  const client = createClient(connection, { fieldManager: 'windlass-runner', userAgent: 'windlass-poll' });
  let listed: Promise<Map<string, Credential>> | undefined;
  const found = new Map<string, Credential>();

  async function list(): Promise<Map<string, Credential>> {
    const { items } = await client.listAll(credentialResource, { namespace, timeoutMs: LIST_TIMEOUT_MS });
    for (const credential of items) found.set(credential.metadata.name, credential);
    return found;
  }

  const cache = {
    get: (_namespace: string | undefined, name: string) => found.get(name),
    // They are read once.
    onChange: () => () => {},
  };
  const source = createCredentials(cache, createSecretReader(client, namespace, { log }), namespace);
  return {
    egress: createEgress(rulesInPod(egress, egress.around)),
    credential: async (name) => {
      try {
        await (listed ??= list());
      } catch (error) {
        listed = undefined;
        log.warn({ err: error }, 'the credentials cannot be read');
        throw new StepError('CredentialMissing', 'the credentials of this namespace cannot be read now', {
          cause: error,
        });
      }
      return source.get(name);
    },
  };
}
