/** The facts about a credential: its Secrets, its use, and its check in the run store. */
import { secretRefs, type CredentialSpec } from '../../api/credential.ts';
import type { Credential } from '../../api/kinds.ts';
import { runnerRefs } from '../../api/token.ts';
import { secrets, objectKey } from '../../kube/resource.ts';
import { CHECKS, type SeenCheck } from '../../store/requests/checks.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Pools } from '../pods/pools.ts';
import type { ScalingState } from '../scaling/state.ts';
import { BY_CREDENTIAL, projectOf } from '../shared/caches.ts';
import { isAsleep, isServed } from '../scaling/asleep.ts';
import type { SecretKeys } from './check.ts';
import { isCheckRequested } from './requestedCheck.ts';

/** The Secrets of a credential: their keys, and their versions. Values are never read. */
export type FoundSecrets = { keys: SecretKeys; versions: Record<string, string> };

/** Reads each Secret by name. */
export async function readSecrets(
  { client }: Pick<OperatorContext, 'client'>,
  namespace: string,
  spec: CredentialSpec,
): Promise<FoundSecrets> {
  const keys = new Map<string, readonly string[] | undefined>();
  const versions: Record<string, string> = {};
  for (const name of new Set(secretRefs(spec).map((ref) => ref.name))) {
    const secret = await client.find(secrets, { namespace, name });
    keys.set(name, secret && Object.keys(secret.data ?? {}));
    if (secret) versions[name] = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`;
  }
  return { keys, versions };
}

/** What is known of the runners of projects. */
export type Serving = {
  pools: Pick<Pools, 'grantedSecrets'>;
  scaling: Pick<ScalingState, 'asleep' | 'waking'>;
};

/** Whether a credential can be checked, and the result. */
export type CheckFacts = {
  key: string;
  /**
   * Whether a workflow of the namespace names it, or a check is requested: otherwise no runner may read its
   * Secrets.
   */
  isUsed: boolean;
  /** Whether there is a runner that may read its Secrets. */
  hasRunner: boolean;
  /** Whether the runners sleep, so that a check would wake them. */
  isAsleep: boolean;
  /** Undefined while the run store is unavailable. */
  seen: SeenCheck | undefined;
};

/** Gathers the facts. */
export async function checkFacts(
  context: OperatorContext & Serving,
  credential: Credential,
  key: string,
): Promise<CheckFacts> {
  const { caches, conn } = context;
  const { namespace = '', name, uid = '' } = credential.metadata;
  const isNamed = caches.workflows.byIndex(BY_CREDENTIAL, objectKey({ namespace, name })).length > 0;
  const project = projectOf(caches, namespace);
  const seen = project === undefined ? undefined : await CHECKS.read(conn, project, uid);
  return {
    key,
    isUsed: isNamed || isCheckRequested(credential),
    hasRunner: hasRunnerFor(context, credential),
    isAsleep: isAsleep(context, namespace),
    seen: isUnavailable(seen) ? undefined : seen,
  };
}

/** Whether there is a runner, or will be on request, that may read the Secrets of the credential. */
export function hasRunnerFor(
  context: Pick<OperatorContext, 'caches' | 'config'> & Serving,
  { metadata: { namespace = '', name }, spec }: Pick<Credential, 'metadata' | 'spec'>,
): boolean {
  const granted = context.pools.grantedSecrets.get(namespace);
  const mayRead = runnerRefs(name, spec).every((ref) => granted?.includes(ref.name));
  return mayRead && isServed(context, namespace);
}
