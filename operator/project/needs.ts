/** What a project needs, from what its namespace holds. Pure but for reading caches. */
import type { Credential } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { runnerRefs } from '../../api/token.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { isCheckRequested } from '../credential/requestedCheck.ts';
import { hasFinalizer } from '../registration/finalizer.ts';
import type { Caches } from '../shared/caches.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';

/**
 * Whether the project needs runners: every valid workflow has a route, runs may have begun before one lost its own, the webhooks of
 * bots are to be deleted, and somebody asks for a check.
 */
export function needsPool(
  caches: Pick<Caches, 'routes' | 'workflows' | 'runs' | 'credentials'>,
  namespace: string,
): boolean {
  const { routes, workflows, credentials } = caches;
  if (routes.list(namespace).length > 0 || credentials.list(namespace).some(needsRunner)) return true;
  return workflows.list(namespace).length > 0 && hasOpenRuns(caches, namespace);
}

/** Whether runners are needed for the credential itself, whether a workflow names it or not. */
const needsRunner = (credential: Credential): boolean =>
  hasFinalizer(credential) || isCheckRequested(credential);

/** Whether runners still have something to do for workflows that are gone. */
export function hasOpenRuns({ runs }: Pick<Caches, 'runs'>, namespace: string): boolean {
  return runs.list(namespace).some(({ status }) => status?.phase !== undefined && !isTerminal(status.phase));
}

/** The Secrets that runners of the project may read: those of the credentials that its workflows name, of bots that are registered, of those that somebody asks to try, and of further ones. */
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

/** What runners read of the Secrets of the credentials that the spec names, each once, sorted. */
export function secretsOf(
  caches: Pick<Caches, 'credentials'>,
  namespace: string,
  spec: WorkflowSpec,
): string[] {
  return secretsOfCredentials(caches, namespace, namesOf(spec));
}

const namesOf = (spec: WorkflowSpec): string[] => credentialRefs(spec).map(({ name }) => name);

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
