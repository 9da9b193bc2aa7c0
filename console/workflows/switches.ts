/** Changes switches of a workflow (`active`, `suspend`), which is no new version. */
import { keptPublicationMarks } from '../../api/version.ts';
import { failureFrom } from '../http/failure.ts';
import { getObject, patchObject } from '../kube/objects.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';

/** Null removes the field. */
type Switches = { active?: boolean; suspend?: boolean | null };

const MAX_TRIES = 5;

/** Whether a switch changes, and with it the generation, which annotations name. */
const isChange = (switches: Switches, before: WorkflowObject['spec']): boolean =>
  (switches.active ?? before.active) !== before.active ||
  ('suspend' in switches && (switches.suspend ?? false) !== (before.suspend ?? false));

/**
 * Changes switches, and returns the stored workflow. Its version keeps who published it, also where the
 * operator has not copied that to the revision yet. Throws an ApiFailure.
 */
export async function patchSwitches(
  at: { namespace: string; name: string },
  switches: Switches,
): Promise<WorkflowObject> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { metadata, spec: before } = await getObject(WORKFLOWS, at.namespace, at.name);
    const annotations = keptPublicationMarks(metadata);
    if (!isChange(switches, before) || Object.keys(annotations).length === 0) break;
    const { resourceVersion } = metadata;
    try {
      return await patchObject(WORKFLOWS, at, { spec: switches, metadata: { annotations, resourceVersion } });
    } catch (error) {
      // The operator writes the status meanwhile.
      if (failureFrom(error).status !== 409) throw error;
    }
  }
  // In the end the switch counts more than who published.
  return patchObject(WORKFLOWS, at, { spec: switches });
}
