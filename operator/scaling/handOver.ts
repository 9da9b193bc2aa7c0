/**
 * Leaves `spec.replicas` of a runner pool to somebody else without changing it. A field that its only owner
 * leaves out of the next apply is removed, which would mean one runner: another field manager owns it first.
 */
import type { KubeClient } from '../../kube/client.ts';
import { deployments, type Deployment } from '../../kube/resource.ts';
import { FIELD_MANAGER, POOL } from '../shared/names.ts';

/** Owns the number until another scaler takes it over. */
const HOLDER = 'windlass-operator-replicas';

/** The number of replicas if the operator's server-side apply has set it. */
export async function ownReplicas(
  client: Pick<KubeClient, 'find'>,
  namespace: string,
): Promise<number | undefined> {
  const pool = await client.find(deployments, { namespace, name: POOL });
  return pool && isOwn(pool) ? pool.spec?.replicas : undefined;
}

/** Makes the number belong to another field manager as well. */
export async function handOverReplicas(
  client: Pick<KubeClient, 'apply'>,
  namespace: string,
  replicas: number,
): Promise<void> {
  const spec = { replicas } as Deployment['spec'];
  await client.apply(deployments, { metadata: { namespace, name: POOL }, spec }, { fieldManager: HOLDER });
}

type ManagedFields = {
  manager?: string;
  operation?: string;
  fieldsV1?: { 'f:spec'?: Record<string, unknown> };
};

function isOwn({ metadata }: Deployment): boolean {
  const entries = (metadata.managedFields ?? []) as ManagedFields[];
  return entries.some(
    ({ manager, operation, fieldsV1 }) =>
      manager === FIELD_MANAGER &&
      operation === 'Apply' &&
      fieldsV1?.['f:spec']?.['f:replicas'] !== undefined,
  );
}
