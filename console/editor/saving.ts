/** Sends what was changed, and nothing else, on the condition that nobody was faster. */
import { failureFrom } from '../http/failure.ts';
import { getObject, patchObject } from '../kube/objects.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';
import type { Draft } from './model.ts';
import { patchOf } from './patch.ts';
import type { Session } from './session.ts';

export type SaveResult =
  | { kind: 'saved'; workflow: WorkflowObject; sent: Draft }
  | { kind: 'nothing' }
  /** Somebody else was faster. */
  | { kind: 'newer'; workflow: WorkflowObject }
  | { kind: 'failed'; error: unknown };

/** Saves the draft. Never throws. */
export async function saveSession({ workflow, saved, history }: Session): Promise<SaveResult> {
  const sent = history.present;
  const patch = patchOf(saved, sent);
  if (patch === undefined) return { kind: 'nothing' };
  const { namespace = '', name, resourceVersion } = workflow.metadata;
  const versioned = { ...patch, metadata: { ...patch.metadata, resourceVersion } };
  try {
    return {
      kind: 'saved',
      workflow: await patchObject(WORKFLOWS, { namespace, name }, versioned),
      sent,
    };
  } catch (error) {
    if (failureFrom(error).status !== 409) return { kind: 'failed', error };
  }
  try {
    return { kind: 'newer', workflow: await getObject(WORKFLOWS, namespace, name) };
  } catch (error) {
    return { kind: 'failed', error };
  }
}
