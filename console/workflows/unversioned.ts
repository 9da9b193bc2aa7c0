/** Switches of a workflow (`active`, `suspend`) and its name are changed without a new version. */
import { keptPublicationMarks, publicationOf } from '../../api/version.ts';
import { failureFrom } from '../http/failure.ts';
import { getObject, patchObject } from '../kube/objects.ts';
import { isEqual } from '../kube/patch.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';

type At = { namespace: string; name: string };

/** What no run executes. Null removes the field. */
type Unversioned = { active?: boolean; suspend?: boolean | null; displayName?: string | null };

const MOST_TRIES = 5;

/** Otherwise the generation stays, and with it what the annotations say. */
const changes = (spec: Unversioned, before: WorkflowObject['spec']): boolean =>
  Object.entries(spec).some(
    ([name, value]) => !isEqual(value ?? undefined, before[name as keyof Unversioned]),
  );

/**
 * Changes these fields, and returns the stored workflow. A version that `by`, the signed-in user, published
 * stays theirs, also where the operator has not noted that yet: nobody may name somebody else. Throws an
 * ApiFailure.
 */
export async function patchUnversioned(
  at: At,
  spec: Unversioned,
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
