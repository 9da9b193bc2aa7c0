/**
 * The egress and the credentials of the project for pollers. Credentials are listed when the pod first needs
 * one, and again after a failed poll, because they may have been repaired. Loaded on demand: most pods find
 * no due account.
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
import type { ProjectAccess } from '../poll/pollAccount.ts';

const LIST_TIMEOUT_MS = 10_000;
/** The least time between two lists, however many polls fail. */
const LEAST_AGE_MS = 1_500;

export type RefreshableAccess = ProjectAccess & {
  /** Makes the next poll read credentials and Secrets again. */
  invalidate(): void;
};

/**
 * Connects to the API server. Its answers are cached until they are invalidated or lack a credential: a pod
 * lives for about a minute.
 */
export async function openProjectAccess(config: PollConfig, log: Log): Promise<RefreshableAccess> {
  const { namespace, kubeconfig, env, egress } = config;
  const connection = kubeconfig ? await kubeconfigConnection(kubeconfig) : inClusterConnection(env);
  const client = createClient(connection, { fieldManager: 'windlass-runner', userAgent: 'windlass-poll' });
  let listed: Promise<void> | undefined;
  let found = new Map<string, Credential>();
  let listedAt = -Infinity;
  let isInvalidated = false;
  const handlers: ((change: Change<Credential>) => void)[] = [];

  async function list(): Promise<void> {
    listedAt = performance.now();
    const { items } = await client.listAll(credentialResource, { namespace, timeoutMs: LIST_TIMEOUT_MS });
    found = new Map(items.map((credential) => [credential.metadata.name, credential]));
    for (const object of items) for (const handle of handlers) handle({ type: 'added', object });
  }

  const cache = {
    get: (_namespace: string | undefined, name: string) => found.get(name),
    // A change makes the handler read the Secrets again.
    onChange: (handler: (change: Change<Credential>) => void) => {
      handlers.push(handler);
      return () => {};
    },
  };
  const source = createCredentials(cache, createSecretReader(client, namespace, { log }), namespace);
  return {
    egress: createEgress(rulesInPod(egress, egress.around)),
    invalidate: () => {
      isInvalidated = true;
    },
    credential: async (name) => {
      // The credential may have been created since.
      const isOld = isInvalidated || !found.has(name);
      if (isOld && performance.now() - listedAt >= LEAST_AGE_MS) {
        isInvalidated = false;
        listed = undefined;
      }
      try {
        await (listed ??= list());
      } catch (error) {
        listed = undefined;
        log.warn({ err: error }, 'listing credentials failed');
        if (found.size > 0) return source.get(name);
        throw new StepError('CredentialMissing', 'cannot read the credentials of this namespace now', {
          cause: error,
        });
      }
      return source.get(name);
    },
  };
}
