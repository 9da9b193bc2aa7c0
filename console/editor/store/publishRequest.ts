/**
 * Publishes a draft: replaces the spec of the Workflow, unless somebody else changed it first, or recreates a
 * Workflow that was deleted.
 */
import { publicationMarks, type Publication } from '../../../api/version.ts';
import { failureFrom } from '../../http/failure.ts';
import { applyOperations, createObject, getObject, type AddOperation } from '../../kube/objects.ts';
import { WORKFLOWS, type ObjectMeta, type WorkflowObject } from '../../kube/resources.ts';
import { firstPublicationMarks } from '../../workflows/create.ts';
import { manifestOf } from '../../workflows/manifest.ts';
import { canvasAnnotations, otherAnnotations } from '../model/annotation.ts';
import type { Draft } from '../model/model.ts';
import { patchOf } from '../model/patch.ts';
import type { Session } from '../model/session.ts';

export type PublishResult =
  | { kind: 'published'; workflow: WorkflowObject; sent: Draft }
  | { kind: 'nothing' }
  /** Somebody else changed the Workflow first. */
  | { kind: 'newer'; workflow: WorkflowObject }
  | { kind: 'failed'; error: unknown; sent: Draft };

/** Patches the Workflow. A changed spec gets annotations that say who published it. Never throws. */
export async function publishSession(
  { workflow, saved, history }: Session,
  publication: Publication | undefined,
): Promise<PublishResult> {
  const sent = history.present;
  const patch = patchOf(saved, sent);
  if (patch === undefined) return { kind: 'nothing' };
  const { namespace = '', name, resourceVersion, generation = 0, annotations = {} } = workflow.metadata;
  const marks = {
    ...patch.metadata?.annotations,
    // The precondition on the resource version guarantees that this patch makes the next generation.
    ...(publication && patch.spec !== undefined && publicationMarks(publication, generation + 1)),
  };
  // Whole members cannot miss their place in an object that somebody else changed: that is a conflict.
  const operations = [
    added('/metadata/resourceVersion', resourceVersion),
    added('/metadata/annotations', withChanges(annotations, marks)),
    ...(patch.spec === undefined ? [] : [added('/spec', sent.spec)]),
  ];
  return publishResult({ namespace, name, sent }, () =>
    applyOperations(WORKFLOWS, { namespace, name }, operations),
  );
}

const added = (path: string, value: unknown): AddOperation => ({ op: 'add', path, value });

/** Null removes an annotation. */
function withChanges(
  annotations: Record<string, string>,
  changes: Record<string, string | null>,
): Record<string, string> {
  const changed = Object.entries({ ...annotations, ...changes });
  return Object.fromEntries(
    changed.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  );
}

/**
 * Recreates the object as inactive, because whoever deleted it wanted no more runs. `by`: whom its first
 * version names; undefined if the user is not known. Never throws.
 */
export function recreate({ workflow, history }: Session, by: string | undefined): Promise<PublishResult> {
  const sent = history.present;
  const { namespace = '', name } = workflow.metadata;
  const { annotations, ...metadata } = metadataOf(workflow, sent);
  const made = {
    metadata: { ...metadata, annotations: { ...annotations, ...firstPublicationMarks(by) } },
    spec: { ...sent.spec, active: false },
  };
  return publishResult({ namespace, name, sent }, () => createObject(WORKFLOWS, namespace, made));
}

/** The labels and annotations that people set, with the positions and notes of the draft. */
function metadataOf(workflow: WorkflowObject, draft: Draft): ObjectMeta {
  const { annotations, ...marks } = manifestOf(workflow).metadata;
  return { ...marks, annotations: { ...otherAnnotations(annotations), ...canvasAnnotations(draft) } };
}

type Sending = { namespace: string; name: string; sent: Draft };

/** Sends the request. After a conflict, reads the version of the other writer. */
async function publishResult(
  { namespace, name, sent }: Sending,
  send: () => Promise<WorkflowObject>,
): Promise<PublishResult> {
  try {
    return { kind: 'published', workflow: await send(), sent };
  } catch (error) {
    if (failureFrom(error).status !== 409) return { kind: 'failed', error, sent };
  }
  try {
    return { kind: 'newer', workflow: await getObject(WORKFLOWS, namespace, name) };
  } catch (error) {
    return { kind: 'failed', error, sent };
  }
}
