/** What a project needs, from what its namespace holds. Pure but for reading caches. */
import { isTerminal } from '../../api/phase.ts';
import { runnerRefs } from '../../api/token.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { isMarked } from '../registration/mark.ts';
import type { World } from '../world.ts';
import { credentialRefs } from '../workflow/references.ts';

/**
 * Whether the project needs runners: every valid workflow has a route, runs may have begun before one lost its own, and the webhooks
 * of bots are to be deleted.
 */
export function needsPool(
  world: Pick<World, 'routes' | 'workflows' | 'runs' | 'credentials'>,
  namespace: string,
): boolean {
  const { routes, workflows, credentials } = world;
  if (routes.list(namespace).length > 0 || credentials.list(namespace).some(isMarked)) return true;
  return workflows.list(namespace).length > 0 && hasOpenRuns(world, namespace);
}

/** Whether runners still have something to do for workflows that are gone. */
export function hasOpenRuns({ runs }: Pick<World, 'runs'>, namespace: string): boolean {
  return runs.list(namespace).some(({ status }) => status?.phase !== undefined && !isTerminal(status.phase));
}

/** The Secrets that runners of the project may read: those of the credentials that its workflows name, and of bots that are registered. */
export function secretsInUse(
  { workflows, credentials }: Pick<World, 'workflows' | 'credentials'>,
  namespace: string,
): string[] {
  const specs = workflows.list(namespace).map(({ spec }) => spec);
  const ofBots = credentials
    .list(namespace)
    .filter(isMarked)
    .flatMap(({ metadata, spec }) => runnerRefs(metadata.name, spec).map((ref) => ref.name));
  return [...new Set([...secretsOf({ credentials }, namespace, specs), ...ofBots])].toSorted();
}

/** What runners read of the Secrets of the credentials that the specs name, each once, sorted. */
export function secretsOf(
  { credentials }: Pick<World, 'credentials'>,
  namespace: string,
  specs: readonly WorkflowSpec[],
): string[] {
  const names = specs.flatMap((spec) => credentialRefs(spec).map(({ name }) => name));
  const secrets = [...new Set(names)].flatMap((name) => {
    const credential = credentials.get(namespace, name);
    return credential ? runnerRefs(name, credential.spec).map((ref) => ref.name) : [];
  });
  return [...new Set(secrets)].toSorted();
}
