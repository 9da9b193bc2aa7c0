/**
 * What pollers use of the project: the egress, and the credentials as the API server has them when the pod
 * first needs one, and again after a look that failed, since somebody may have mended them. Loaded only then:
 * most pods find nothing due.
 */
import type { Credential } from '../../api/kinds.ts';
import type { Change } from '../../kube/cache.ts';
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
/** However many looks fail, the API server is asked no more often than that. */
const LEAST_AGE_MS = 1_500;

export type AccountMeans = Means & {
  /** Has credentials and Secrets read anew by the next look. */
  doubt(): void;
};

/**
 * Connects with the API server. Its answers are kept until they are doubted, or lack an account: a pod lives
 * for about a minute.
 */
export async function openMeans(config: PollConfig, log: Log): Promise<AccountMeans> {
  const { namespace, kubeconfig, env, egress } = config;
  const connection = kubeconfig ? await kubeconfigConnection(kubeconfig) : inClusterConnection(env);
  const client = createClient(connection, { fieldManager: 'windlass-runner', userAgent: 'windlass-poll' });
  let listed: Promise<void> | undefined;
  let found = new Map<string, Credential>();
  let listedAt = -Infinity;
  let isDoubted = false;
  const handlers: ((change: Change<Credential>) => void)[] = [];

  async function list(): Promise<void> {
    listedAt = performance.now();
    const { items } = await client.listAll(credentialResource, { namespace, timeoutMs: LIST_TIMEOUT_MS });
    found = new Map(items.map((credential) => [credential.metadata.name, credential]));
    for (const object of items) for (const handle of handlers) handle({ type: 'added', object });
  }

  const cache = {
    get: (_namespace: string | undefined, name: string) => found.get(name),
    // Whoever is told has the Secrets read anew.
    onChange: (handler: (change: Change<Credential>) => void) => {
      handlers.push(handler);
      return () => {};
    },
  };
  const source = createCredentials(cache, createSecretReader(client, namespace, { log }), namespace);
  return {
    egress: createEgress(rulesInPod(egress, egress.around)),
    doubt: () => {
      isDoubted = true;
    },
    credential: async (name) => {
      // An account may have come since, with a workflow of its own.
      const isOld = isDoubted || !found.has(name);
      if (isOld && performance.now() - listedAt >= LEAST_AGE_MS) {
        isDoubted = false;
        listed = undefined;
      }
      try {
        await (listed ??= list());
      } catch (error) {
        listed = undefined;
        log.warn({ err: error }, 'the credentials cannot be read');
        if (found.size > 0) return source.get(name);
        throw new StepError('CredentialMissing', 'the credentials of this namespace cannot be read now', {
          cause: error,
        });
      }
      return source.get(name);
    },
  };
}
