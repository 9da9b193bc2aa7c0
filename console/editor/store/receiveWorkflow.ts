/** Takes versions of the workflow that are read from the API server into the session. */
import type { WorkflowObject } from '../../kube/resources.ts';
import { notifySuccess } from '../../ui/notify.tsx';
import { draftOf } from '../model/annotation.ts';
import { whoChanged } from '../model/owners.ts';
import { afterPublishing, receive } from '../model/session.ts';
import { isPublished } from '../model/storedDraft.ts';
import type { Core } from './core.ts';
import { readForeignAgain, saveDraft } from './draftSaving.ts';
import { notifyPublished } from './publishNotices.ts';

/** Shows a version of the workflow that was read; while publishing, after the response. */
export function receiveWorkflow(core: Core, read: WorkflowObject): void {
  if (core.view().isPublishing) {
    core.deferredWorkflow = read;
    return;
  }
  if (isOwnUnconfirmed(core, read)) return confirmPublished(core, read);
  const { session, outcome } = receive(core.session(), read);
  core.set(session);
  readForeignAgain(core);
  if (outcome === 'updated')
    notifySuccess(`${whoChanged(read)} changed this workflow. The page shows the new version.`);
  if (outcome === 'rebased')
    notifySuccess(`${whoChanged(read)} changed this workflow. Your changes are kept.`);
}

/** Whether the read version is the one that this page sent without getting an answer. */
function isOwnUnconfirmed({ unconfirmedPublish }: Core, read: WorkflowObject): boolean {
  return unconfirmedPublish !== undefined && isPublished(unconfirmedPublish, draftOf(read));
}

function confirmPublished(core: Core, read: WorkflowObject): void {
  const { unconfirmedPublish: sent } = core;
  delete core.unconfirmedPublish;
  if (sent === undefined) return;
  const { workflow: before } = core.session();
  core.set(afterPublishing(core.session(), read, sent));
  notifyPublished(core, read, before);
  void saveDraft(core);
}

/** Handles the version that was read while publishing. */
export function receiveDeferred(core: Core): void {
  const read = core.deferredWorkflow;
  delete core.deferredWorkflow;
  if (read) receiveWorkflow(core, read);
}
