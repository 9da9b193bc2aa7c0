/** Suspends and resumes workflows, and says what came of it. */
import { patchObject } from '../kube/objects.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';
import { tellDone, tellFailure } from '../ui/tell.tsx';

type Target = { namespace: string; name: string; title: string };

/** Sets `spec.suspend`. Answers with the workflow as it is stored; undefined where that failed, which was told. */
export async function setSuspended(
  { namespace, name, title }: Target,
  suspend: boolean,
): Promise<WorkflowObject | undefined> {
  try {
    const spec = { suspend: suspend ? true : null };
    const stored = await patchObject(WORKFLOWS, { namespace, name }, { spec });
    tellDone(`${title} ${suspend ? 'suspended' : 'resumed'}`);
    return stored;
  } catch (error) {
    tellFailure(`Could not ${suspend ? 'suspend' : 'resume'} ${title}`, error);
    return undefined;
  }
}
