/** What a project needs: runners, and the Secrets that they may read. Pure but for reading caches. */
import type { Credential } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { runnerRefs } from '../../api/token.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { isCheckRequested } from '../credential/requestedCheck.ts';
import { hasFinalizer } from '../registration/finalizer.ts';
import type { Caches } from '../shared/caches.ts';
import { credentialRefs, type RevisionCredentials } from '../shared/credentialRefs.ts';
import type { ControllerRevision } from '../../kube/resource.ts';

/**
 * Whether the project needs runners: for its routes, which every valid workflow has, for unfinished runs, to
 * delete webhooks of bots, and for requested checks.
 */
export function needsPool(
  caches: Pick<Caches, 'routes' | 'workflows' | 'runs' | 'credentials'>,
  namespace: string,
): boolean {
  const { routes, workflows, credentials } = caches;
  if (routes.list(namespace).length > 0 || credentials.list(namespace).some(needsRunner)) return true;
  return workflows.list(namespace).length > 0 && hasOpenRuns(caches, namespace);
}

/** Whether the credential needs a runner even if no workflow names it. */
const needsRunner = (credential: Credential): boolean =>
  hasFinalizer(credential) || isCheckRequested(credential);

/** Whether runs of the namespace are unfinished. */
export function hasOpenRuns({ runs }: Pick<Caches, 'runs'>, namespace: string): boolean {
  return runs.list(namespace).some(({ status }) => status?.phase !== undefined && !isTerminal(status.phase));
}

/**
 * The Secrets that runners of the project may read: of credentials that workflows name, of registered bots,
 * of credentials to check, and of `further` ones.
 */
export function secretsInUse(
  { workflows, credentials }: Pick<Caches, 'workflows' | 'credentials'>,
  namespace: string,
  further: readonly string[],
): string[] {
  const names = workflows.list(namespace).flatMap(({ spec }) => namesOf(spec));
  const others = credentials
    .list(namespace)
    .filter(needsRunner)
    .map(({ metadata }) => metadata.name);
  return secretsOfCredentials({ credentials }, namespace, [...names, ...others, ...further]);
}

/** The Secrets that runners read for the credentials of the spec, each once, sorted. */
export function secretsOf(
  caches: Pick<Caches, 'credentials'>,
  namespace: string,
  spec: Pick<WorkflowSpec, 'nodes'>,
): string[] {
  return secretsOfCredentials(caches, namespace, namesOf(spec));
}

/** The Secrets that runners read for the credentials of a cached revision. */
export function secretsOfRevision(
  caches: Pick<Caches, 'credentials'>,
  { metadata: { namespace = '' }, data }: Pick<ControllerRevision, 'metadata' | 'data'>,
): string[] {
  const { credentials = [] } = (data ?? {}) as Partial<RevisionCredentials>;
  return secretsOfCredentials(caches, namespace, credentials);
}

const namesOf = (spec: Pick<WorkflowSpec, 'nodes'>): string[] => credentialRefs(spec).map(({ name }) => name);

function secretsOfCredentials(
  { credentials }: Pick<Caches, 'credentials'>,
  namespace: string,
  names: readonly string[],
): string[] {
  const secrets = [...new Set(names)].flatMap((name) => {
    const credential = credentials.get(namespace, name);
    return credential ? runnerRefs(name, credential.spec).map((ref) => ref.name) : [];
  });
  return [...new Set(secrets)].toSorted();
}
