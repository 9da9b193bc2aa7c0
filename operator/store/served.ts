/** What a project's routes serve: the revisions from the API server, the limits from the workflows. */
import type { Revision } from '../../api/revision.ts';
import type { KubeClient } from '../../kube/client.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import type { ProjectUid } from '../../runs/types.ts';
import type { World } from '../world.ts';
import { isRevisionOf } from '../workflow/ownRevision.ts';
import { limitsOf } from '../workflow/limits.ts';
import { baselineOf, triggerOf } from '../poll/trigger.ts';
import type { ServedWorkflow } from './seed.ts';

/** Reads them. A revision that does not exist any more, or is another's of the same name, is left out. */
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
    const object = await client.find(controllerRevisions, { namespace, name: spec.revision });
    if (!object || !isRevisionOf(object, spec.workflowUID)) continue;
    const workflow = workflows.get(namespace, spec.workflow);
    const isOwn = workflow?.metadata.uid === spec.workflowUID;
    const revision = { name: spec.revision, revision: object.data as Revision };
    if (!workflow || !isOwn) {
      found.push({ revision });
      continue;
    }
    const trigger = triggerOf(workflow, spec, (name) => credentials.get(namespace, name));
    const polled = trigger && { trigger, ...baselineOf(workflow) };
    found.push({ revision, limits: limitsOf(workflow), ...(polled && { polled }) });
  }
  return found;
}
