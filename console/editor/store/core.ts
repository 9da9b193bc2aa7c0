/** The mutable state that the modules of the editor's store share. */
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import type { Draft } from '../model/model.ts';
import type { Session } from '../model/session.ts';
import type { DraftResult, Stored, Unanswered } from './draftState.ts';
import type { FoundProblems } from './problems.ts';
import type { Confirmation, EditorState } from './store.ts';

export type View = Pick<
  EditorState,
  | 'mode'
  | 'isDeleted'
  | 'isPublishing'
  | 'published'
  | 'selection'
  | 'panel'
  | 'tab'
  | 'picker'
  | 'isComparing'
  | 'isAsking'
  | 'isAskedAgain'
  | 'unreadable'
  | 'text'
  | 'unapplied'
  | 'shapes'
  | 'replaced'
  | 'draftState'
  | 'mayDraft'
  | 'collapsed'
  | 'shownItems'
  | 'removing'
  | 'pastedN8n'
> &
  FoundProblems;

export type Core = {
  readonly session: () => Session;
  readonly view: () => View;
  readonly set: (session: Session, change?: Partial<View>) => void;
  /**
   * A version of the workflow that was read while publishing. It may be the one that this page sent, so it
   * is handled after the response.
   */
  deferredWorkflow?: WorkflowObject;
  /** Answers the open confirmation dialog; undefined as its argument cancels. */
  answerConfirmation?: (confirmation: Confirmation | undefined) => void;
  /** The draft that the API server had when this page last wrote or read it. */
  stored?: Stored;
  /** Writes of the draft that got no answer: the API server may have stored one of them. */
  unanswered: Unanswered[];
  /** A draft whose publishing got no answer: the API server may have stored it. */
  unconfirmedPublish?: Draft;
  /** The UIDs of drafts that this page removed: watch events about them may arrive later. */
  removedDrafts: Set<string>;
  /** Settles after the last write of the draft. Each write starts after it. */
  writing: Promise<DraftResult>;
  isWriting: boolean;
  /**
   * A draft that was read during a write; null: it was removed. It may be the one that this page sent, so it
   * is handled after the response.
   */
  deferredDraft?: DraftObject | null;
};
