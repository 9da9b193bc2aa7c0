/** Whether runners can read the Secrets that a run needs. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Pools } from '../pods/pools.ts';
import { secretsOf, secretsOfRevision } from '../project/needs.ts';
import type { OperatorContext } from '../shared/context.ts';

type SecretsContext = Pick<OperatorContext, 'caches'> & { pools: Pick<Pools, 'grantedSecrets'> };

/**
 * Whether runners may not read yet all Secrets that the run needs: those of its draft, or of the revision
 * that it names.
 */
export function lacksSecrets(
  { caches, pools }: SecretsContext,
  { metadata: { namespace = '' }, spec: { draft, revision: name } }: WorkflowRun,
): boolean {
  const revision = name === undefined ? undefined : caches.revisions.get(namespace, name);
  const named = revision ? secretsOfRevision(caches, revision) : [];
  const needed = draft ? secretsOf(caches, namespace, draft) : named;
  const granted = pools.grantedSecrets.get(namespace) ?? [];
  return needed.some((secret) => !granted.includes(secret));
}
