/** The revisions that a project's routes name, from the API server. */
import type { Revision } from '../../api/revision.ts';
import type { KubeClient } from '../../kube/client.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import type { ProjectUid } from '../../runs/types.ts';
import type { World } from '../world.ts';
import type { NamedRevision } from './projects.ts';

/** Reads them. A revision that does not exist any more is left out. */
export async function servedRevisions(
  client: Pick<KubeClient, 'find'>,
  { namespaces, routes }: Pick<World, 'namespaces' | 'routes'>,
  project: ProjectUid,
): Promise<NamedRevision[]> {
  const namespace = namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  const found: NamedRevision[] = [];
  for (const { spec } of namespace === undefined ? [] : routes.list(namespace)) {
    const object = await client.find(controllerRevisions, { namespace, name: spec.revision });
    if (object) found.push({ name: spec.revision, revision: object.data as Revision });
  }
  return found;
}
