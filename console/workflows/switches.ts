/** Switches of a workflow (`active`, `suspend`) are changed without a new version. */
import { keptPublicationMarks, publicationOf } from '../../api/version.ts';
import { failureFrom } from '../http/failure.ts';
import { getObject, patchObject } from '../kube/objects.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';

/** Null removes the field. */
type Switches = { active?: boolean; suspend?: boolean | null };

const MOST_TRIES = 5;

/** Otherwise the generation stays, and with it what the annotations say. */
const changes = (spec: Switches, before: WorkflowObject['spec']): boolean =>
  (spec.active ?? before.active) !== before.active ||
  ('suspend' in spec && (spec.suspend ?? false) !== (before.suspend ?? false));

/**
 * Changes switches, and returns the stored workflow. A version that `by`, the signed-in user, published stays
 * theirs, also where the operator has not noted that yet: nobody may name somebody else. Throws an
 * ApiFailure.
 */
export async function patchSwitches(
  at: { namespace: string; name: string },
  spec: Switches,
  by: string | undefined,
): Promise<WorkflowObject> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { metadata, spec: before } = await getObject(WORKFLOWS, at.namespace, at.name);
    const publication = publicationOf(metadata);
    if (!changes(spec, before) || publication === undefined || publication.by !== by) break;
    const annotations = keptPublicationMarks(metadata);
    const { resourceVersion } = metadata;
    try {
      return await patchObject(WORKFLOWS, at, { spec, metadata: { annotations, resourceVersion } });
    } catch (error) {
      // The operator writes the status meanwhile.
      if (failureFrom(error).status !== 409) throw error;
    }
  }
  return patchObject(WORKFLOWS, at, { spec });
}
