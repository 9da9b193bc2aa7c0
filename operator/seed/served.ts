/** What a project's routes serve: the revisions from the API server, the limits from the workflows. */
import type { Revision } from '../../api/revision.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { KubeClient } from '../../kube/client.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import type { PolledTrigger } from '../../store/polling/triggers.ts';
import type { Caches } from '../shared/caches.ts';
import { withDefaults, workflowDefaults } from '../shared/projectSettings.ts';
import { isRevisionOf, type NamedRevision } from '../shared/revisions.ts';
import { limitsOf } from '../store/limits.ts';
import { baselineOf, triggerOf } from '../poll/trigger.ts';
import type { ServedWorkflow } from '../store/seed.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** Reads them. A revision that does not exist any more, or is another's of the same name, is left out; the limits are not. */
export async function servedWorkflows(
  client: Pick<KubeClient, 'find'>,
  {
    namespaces,
    routes,
    workflows,
    credentials,
    settings,
  }: Pick<Caches, 'namespaces' | 'routes' | 'workflows' | 'credentials' | 'settings'>,
  project: ProjectUid,
): Promise<ServedWorkflow[]> {
  const namespace = namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  const found: ServedWorkflow[] = [];
  if (namespace === undefined) return found;
  const defaults = workflowDefaults({ settings }, namespace);
  for (const { spec } of routes.list(namespace)) {
    const revision = await ownRevision(client, namespace, spec);
    const own = workflows.get(namespace, spec.workflow);
    const workflow = own && withDefaults(own, defaults);
    const ofWorkflow =
      workflow?.metadata.uid === spec.workflowUID
        ? putBack(workflow, revision && triggerOf(workflow, spec, (name) => credentials.get(namespace, name)))
        : {};
    if (revision || ofWorkflow.limits) found.push({ ...(revision && { revision }), ...ofWorkflow });
  }
  return found;
}

/** Runs of other revisions than the route's need the limits, too: while the workflow is suspended they must not start. */
function putBack(workflow: Workflow, trigger: PolledTrigger | undefined): Omit<ServedWorkflow, 'revision'> {
  const polled = trigger && { trigger, ...baselineOf(workflow) };
  return { limits: limitsOf(workflow), ...(polled && { polled }) };
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
