/** The facts about a credential: its Secrets, its use, and its check in the run store. */
import { createHash } from 'node:crypto';
import { secretRefs, type CredentialSpec } from '../../api/credential.ts';
import type { Credential } from '../../api/kinds.ts';
import { runnerRefs } from '../../api/token.ts';
import { canonicalJson } from '../../kube/json.ts';
import { secrets, objectKey } from '../../kube/resource.ts';
import { CHECKS, type SeenCheck } from '../../store/requests/checks.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { OperatorContext } from '../shared/context.ts';
import { hasRunner, type Pools } from '../pods/pools.ts';
import { POOL } from '../shared/names.ts';
import { BY_CREDENTIAL, projectOf } from '../shared/caches.ts';
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

/**
 * Identifies a check: by the spec, the versions of the Secrets, the access token, and the requested check.
 */
export function checkKey(
  spec: CredentialSpec,
  { versions }: FoundSecrets,
  { token = 0, requested }: { token?: number | undefined; requested?: string | undefined } = {},
): string {
  // The name of the member is part of hashes in the run store.
  const checked = { spec, versions, token, ...(requested !== undefined && { wish: requested }) };
  return createHash('sha256').update(canonicalJson(checked)).digest('hex').slice(0, 32);
}

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
  /** Undefined while the run store is unavailable. */
  seen: SeenCheck | undefined;
};

/** Gathers the facts. */
export async function checkFacts(
  context: OperatorContext & { pools: Pick<Pools, 'grantedSecrets'> },
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
    seen: isUnavailable(seen) ? undefined : seen,
  };
}

/** Whether there is a runner that may read the Secrets of the credential. */
export function hasRunnerFor(
  { caches, pools }: Pick<OperatorContext, 'caches'> & { pools: Pick<Pools, 'grantedSecrets'> },
  { metadata: { namespace = '', name }, spec }: Pick<Credential, 'metadata' | 'spec'>,
): boolean {
  const granted = pools.grantedSecrets.get(namespace);
  const mayRead = runnerRefs(name, spec).every((ref) => granted?.includes(ref.name));
  return mayRead && hasRunner(caches.deployments.get(namespace, POOL));
}
