/** What a project's routes serve: the revisions from the API server, the limits from the workflows. */
import type { Revision } from '../../api/revision.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { KubeClient } from '../../kube/client.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import type { ProjectUid } from '../../runs/types.ts';
import type { World } from '../world.ts';
import { isRevisionOf } from '../workflow/ownRevision.ts';
import { limitsOf } from '../workflow/limits.ts';
import { baselineOf, triggerOf } from '../poll/trigger.ts';
import type { NamedRevision } from './projects.ts';
import type { ServedWorkflow } from './seed.ts';

/** Reads them. A revision that does not exist any more, or is another's of the same name, is left out; the limits are not. */
export async function servedWorkflows(
  client: Pick<KubeClient, 'find'>,
  {
    namespaces,
    routes,
    workflows,
    credentials,
  }: Pick<World, 'namespaces' | 'routes' | 'workflows' | 'credentials'>,
  project: ProjectUid,
): Promise<ServedWorkflow[]> {
  const namespace = namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  const found: ServedWorkflow[] = [];
  for (const { spec } of namespace === undefined ? [] : routes.list(namespace)) {
    const revision = await ownRevision(client, namespace ?? '', spec);
    const workflow = workflows.get(namespace, spec.workflow);
    const own = workflow?.metadata.uid === spec.workflowUID ? workflow : undefined;
    const trigger = own && revision && triggerOf(own, spec, (name) => credentials.get(namespace, name));
    const polled = own && trigger && { trigger, ...baselineOf(own) };
    // Runs of other revisions need the limits, too: while the workflow is suspended they must not start.
    const limits = own && limitsOf(own);
    if (revision || limits)
      found.push({ ...(revision && { revision }), ...(limits && { limits }), ...(polled && { polled }) });
  }
  return found;
}

async function ownRevision(
  client: Pick<KubeClient, 'find'>,
  namespace: string,
  { revision: name, workflowUID }: RouteSpec,
): Promise<NamedRevision | undefined> {
  const object = await client.find(controllerRevisions, { namespace, name });
  return object && isRevisionOf(object, workflowUID)
    ? { name, revision: object.data as Revision }
    : undefined;
}
