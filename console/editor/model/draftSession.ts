/** Starts an editing session with a stored draft, and merges drafts that others store. Pure. */
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { readStored, type StoredDraft } from './storedDraft.ts';
import { canvasAnnotations, otherAnnotations } from './annotation.ts';
import { historyOf, rebaseHistory } from './history.ts';
import { mergeDrafts } from './merge.ts';
import type { Draft } from './model.ts';
import { receive, type Session } from './session.ts';
import { isEqual } from '../../kube/patch.ts';

/**
 * The session of a stored draft. If somebody published another version since the draft was begun, the changes
 * of the draft are rebased on that version, or are in conflict with it.
 */
export function sessionOfDraft(workflow: WorkflowObject, { base, draft }: StoredDraft): Session {
  const begun = { workflow: workflowAtBase(workflow, base), saved: base, history: historyOf(draft) };
  return receive(begun, workflow).session;
}

/**
 * The Workflow as it was when the draft was begun. Without a resource version, so that no version is older.
 */
function workflowAtBase(workflow: WorkflowObject, base: Draft): WorkflowObject {
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

/**
 * A draft that somebody else stored. `session`: the session of this page, with the version that the draft is
 * based on. `text`: the invalid text of the YAML tab.
 */
export type TheirDraft = { session: Session; theirs: Draft; text?: string };

/**
 * Reads a draft that somebody else stored, for a page with this session. If the draft or the session is in
 * conflict with the newest version, the returned session has the base and the conflict of the draft:
 * otherwise nodes of the newest version would count as removed by the draft. Undefined: the draft belongs
 * to another workflow, or cannot be displayed.
 */
export function readTheirDraft(session: Session, object: DraftObject): TheirDraft | undefined {
  const newest = session.theirs ?? session.workflow;
  const isOfNewest = object.spec.base.uid === newest.metadata.uid;
  const workflow = isOfNewest ? newest : session.workflow;
  const read = readStored(object, workflow);
  if (read === undefined) return undefined;
  const { history, ...versions } = sessionOfDraft(workflow, read);
  const { theirs: _other, ...own } = session;
  const isRebased = isOfNewest && (versions.theirs !== undefined || session.theirs !== undefined);
  return {
    session: isRebased ? { ...own, ...versions } : session,
    theirs: history.present,
    ...(read.text !== undefined && { text: read.text }),
  };
}

/**
 * Merges a draft that somebody else stored. `before` is the draft that this page stored or read last.
 * Undefined if both changed the same part of it in different ways.
 */
export function receiveDraft(session: Session, before: Draft, theirs: Draft): Session | undefined {
  const mine = session.history.present;
  const present = isEqual(mine, before) ? theirs : mergeDrafts(before, mine, theirs);
  if (present === undefined) return undefined;
  if (isEqual(present, mine)) return session;
  // Undo reverts only the own changes.
  const history = rebaseHistory(session.history, present, (draft) => mergeDrafts(before, draft, theirs));
  return { ...session, history };
}
