/** How an editing session begins from a stored draft, and takes what others store in it. Pure. */
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { readStored, type StoredDraft } from './storedDraft.ts';
import { canvasAnnotations, otherAnnotations } from './annotation.ts';
import { historyOf, rebaseHistory } from './history.ts';
import { mergeDrafts } from './merge.ts';
import type { Draft } from './model.ts';
import { receive, type Session } from './session.ts';
import { isEqual } from '../../kube/patch.ts';

/**
 * The session of a stored draft. If another version was published since the draft was begun, its changes are
 * put on top of that version, or are in conflict with it.
 */
export function continued(workflow: WorkflowObject, { base, draft }: StoredDraft): Session {
  const begun = { workflow: publishedThen(workflow, base), saved: base, history: historyOf(draft) };
  return receive(begun, workflow).session;
}

/** The workflow as it was when the draft was begun. */
function publishedThen(workflow: WorkflowObject, base: Draft): WorkflowObject {
  const { resourceVersion: _now, annotations, ...metadata } = workflow.metadata;
  return {
    ...workflow,
    metadata: {
      ...metadata,
      annotations: { ...otherAnnotations(annotations), ...canvasAnnotations(base) },
    },
    spec: base.spec,
  };
}

/** A stored draft, and the session with the versions that it is based on and in conflict with. */
export type Framed = { session: Session; theirs: Draft; text?: string };

/**
 * What a page with this session takes of a stored draft. If the draft was begun from another version than the
 * newest one, and both changed the same, the session is in conflict with that version from now on: its nodes
 * would count as removed by the draft otherwise. Undefined: the draft cannot be used.
 */
export function framed(session: Session, object: DraftObject): Framed | undefined {
  const newest = session.theirs ?? session.workflow;
  const isOfNewest = object.spec.base.uid === newest.metadata.uid;
  const workflow = isOfNewest ? newest : session.workflow;
  const read = readStored(object, workflow);
  if (read === undefined) return undefined;
  const { history, ...frame } = continued(workflow, read);
  const { theirs: _other, ...own } = session;
  const isMoved = isOfNewest && (frame.theirs !== undefined || session.theirs !== undefined);
  return {
    session: isMoved ? { ...own, ...frame } : session,
    theirs: history.present,
    ...(read.text !== undefined && { text: read.text }),
  };
}

/**
 * Takes the draft that somebody else stored. `before` is the one that this page stored or read last;
 * undefined if both changed the same part of it in different ways.
 */
export function receiveDraft(session: Session, before: Draft, theirs: Draft): Session | undefined {
  const mine = session.history.present;
  const present = isEqual(mine, before) ? theirs : mergeDrafts(before, mine, theirs);
  if (present === undefined) return undefined;
  if (isEqual(present, mine)) return session;
  // Undo reverts the own changes alone.
  const history = rebaseHistory(session.history, present, (draft) => mergeDrafts(before, draft, theirs));
  return { ...session, history };
}
