/** Sends the changed fields, provided that nobody else saved first; or the whole object if it was deleted. */
import { publicationMarks, type Publication } from '../../../api/version.ts';
import { failureFrom } from '../../http/failure.ts';
import { createObject, getObject, patchObject } from '../../kube/objects.ts';
import { WORKFLOWS, type ObjectMeta, type WorkflowObject } from '../../kube/resources.ts';
import { manifestOf } from '../../workflows/manifest.ts';
import { canvasAnnotations, otherAnnotations } from '../model/annotation.ts';
import type { Draft } from '../model/model.ts';
import { patchOf } from '../model/patch.ts';
import type { Session } from '../model/session.ts';

export type SaveResult =
  | { kind: 'saved'; workflow: WorkflowObject; sent: Draft }
  | { kind: 'nothing' }
  /** Someone else saved first. */
  | { kind: 'newer'; workflow: WorkflowObject }
  | { kind: 'failed'; error: unknown; sent: Draft };

/** Never throws. With a change of the spec it notes who published it. */
export async function saveSession(
  { workflow, saved, history }: Session,
  publication: Publication | undefined,
): Promise<SaveResult> {
  const sent = history.present;
  const patch = patchOf(saved, sent);
  if (patch === undefined) return { kind: 'nothing' };
  const { namespace = '', name, resourceVersion, generation = 0 } = workflow.metadata;
  const annotations = {
    ...patch.metadata?.annotations,
    // The resource version says that nobody else makes this generation.
    ...(publication && patch.spec !== undefined && publicationMarks(publication, generation + 1)),
  };
  const versioned = { ...patch, metadata: { annotations, resourceVersion } };
  return saveResult({ namespace, name, sent }, () => patchObject(WORKFLOWS, { namespace, name }, versioned));
}

/** Recreates the object as inactive: whoever deleted it wanted no runs. Never throws. */
export function recreate({ workflow, history }: Session): Promise<SaveResult> {
  const sent = history.present;
  const { namespace = '', name } = workflow.metadata;
  const made = { metadata: metadataOf(workflow, sent), spec: { ...sent.spec, active: false } };
  return saveResult({ namespace, name, sent }, () => createObject(WORKFLOWS, namespace, made));
}

/** Labels and annotations that people set, and the current positions and notes. */
function metadataOf(workflow: WorkflowObject, draft: Draft): ObjectMeta {
  const { annotations, ...marks } = manifestOf(workflow).metadata;
  return { ...marks, annotations: { ...otherAnnotations(annotations), ...canvasAnnotations(draft) } };
}

type Sending = { namespace: string; name: string; sent: Draft };

/** The result of the request. If someone else saved first, their version. */
async function saveResult(
  { namespace, name, sent }: Sending,
  send: () => Promise<WorkflowObject>,
): Promise<SaveResult> {
  try {
    return { kind: 'saved', workflow: await send(), sent };
  } catch (error) {
    if (failureFrom(error).status !== 409) return { kind: 'failed', error, sent };
  }
  try {
    return { kind: 'newer', workflow: await getObject(WORKFLOWS, namespace, name) };
  } catch (error) {
    return { kind: 'failed', error, sent };
  }
}
