/** Publishes the draft: asks for confirmation, sends the changes, and follows the outcome. */
import type { Publication } from '../../../api/version.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { notifyNotice, notifyProblem } from '../../ui/notify.tsx';
import { specChanges } from '../model/changes.ts';
import { afterPublishing, isDirty, withoutChainEdges } from '../model/session.ts';
import type { Core, View } from './core.ts';
import { saveDraft } from './draftSaving.ts';
import { isOutcomeUnknown, notifyNotPublished, notifyPublished, notifyUnreadable } from './publishNotices.ts';
import { publishSession, recreate } from './publishRequest.ts';
import { receiveDeferred, receiveWorkflow } from './receiveWorkflow.ts';
import type { Confirmation } from './store.ts';

/** How often changes are sent, because others may publish a version meanwhile. */
const MAX_TRIES = 5;

/** `by`: who recreates a deleted workflow. */
type Publishing = { by?: string | undefined; confirmation?: Confirmation; tries?: number };

/**
 * Publishes the draft after the user has confirmed its changes. Returns whether nothing is left to be
 * published.
 */
export async function publish(core: Core, publishing: Publishing): Promise<boolean> {
  if (!mayPublish(core)) return false;
  core.set(withoutChainEdges(core.session()), withoutNewMark(core.view()));
  if (publishing.confirmation !== undefined || !needsConfirmation(core)) return send(core, publishing);
  const given = await askConfirmation(core);
  return given !== undefined && publish(core, { confirmation: given });
}

/** The panel of a node that is to be published: what the node lacks is marked from now on. */
function withoutNewMark({ panel }: View): Partial<View> {
  return panel !== undefined && 'isNew' in panel ? { panel: { node: panel.node } } : {};
}

/** Whether the draft can be published. Otherwise the user is told why. */
function mayPublish({ session, view, set }: Core): boolean {
  const { isPublishing, isAsking, mode, unreadable } = view();
  if (isPublishing || isAsking || mode !== 'edit') return false;
  if (unreadable !== undefined) {
    notifyUnreadable(unreadable);
    return false;
  }
  if (session().theirs === undefined) return true;
  set(session(), { isComparing: true });
  return false;
}

/** Recreating a deleted workflow needs no confirmation: it becomes inactive, so that nothing runs. */
function needsConfirmation({ session, view }: Core): boolean {
  const { saved, history } = session();
  return !view().isDeleted && specChanges(saved, history.present).length > 0;
}

async function send(core: Core, publishing: Publishing): Promise<boolean> {
  const { session, view, set } = core;
  const { workflow: before } = session();
  set(session(), { isPublishing: true });
  const result = await (view().isDeleted
    ? recreate(session(), publishing.by)
    : publishSession(session(), publicationIn(publishing)));
  if (result.kind === 'published') {
    delete core.unconfirmedPublish;
    set(afterPublishing(session(), result.workflow, result.sent), { isPublishing: false, isDeleted: false });
  } else set(session(), { isPublishing: false });
  if (result.kind === 'failed' && isOutcomeUnknown(result.error)) core.unconfirmedPublish = result.sent;
  receiveDeferred(core);
  if (result.kind === 'newer') return publishOnTop(core, result.workflow, publishing);
  if (result.kind === 'failed') return notifyNotPublished(core, result.error);
  if (result.kind === 'nothing' && publishing.confirmation !== undefined)
    notifyNotice('Nothing to publish', 'Somebody else has already published or discarded these changes.');
  if (result.kind === 'published') {
    notifyPublished(core, result.workflow, before);
    void saveDraft(core);
  }
  return !isDirty(session());
}

function publicationIn({ confirmation }: Publishing): Publication | undefined {
  const { by, message = '' } = confirmation ?? {};
  return by === undefined ? undefined : { by, ...(message.trim() !== '' && { message: message.trim() }) };
}

/**
 * Shows the changes, and asks whether to publish them; undefined: the user cancelled. Asks again if the draft
 * changed while the user read it.
 */
function askConfirmation(core: Core): Promise<Confirmation | undefined> {
  const { promise, resolve } = Promise.withResolvers<Confirmation | undefined>();
  let shown = core.session().history.present;
  core.answerConfirmation = (confirmation) => {
    const { present } = core.session().history;
    if (confirmation !== undefined && present !== shown) {
      shown = present;
      core.set(core.session(), { isAskedAgain: true });
      return;
    }
    delete core.answerConfirmation;
    core.set(core.session(), { isAsking: false, isAskedAgain: false });
    resolve(confirmation);
  };
  core.set(core.session(), { isAsking: true });
  return promise;
}

/**
 * Someone else published first. Publishes on top of that version, unless it conflicts: the user decides
 * then.
 */
async function publishOnTop(core: Core, newer: WorkflowObject, publishing: Publishing): Promise<boolean> {
  // Somebody may have recreated a deleted workflow.
  core.set(core.session(), { isDeleted: false });
  receiveWorkflow(core, newer);
  if (!isDirty(core.session())) return true;
  const { tries = MAX_TRIES } = publishing;
  if (tries > 1) return publish(core, { ...publishing, tries: tries - 1 });
  notifyProblem('Not published', 'Others changed the workflow at the same time. Publish again.');
  return false;
}
