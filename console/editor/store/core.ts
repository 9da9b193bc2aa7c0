/** What the parts of the editor's store share. */
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
  | 'selection'
  | 'panel'
  | 'tab'
  | 'picker'
  | 'isComparing'
  | 'isAsking'
  | 'isAskedAgain'
  | 'unreadable'
  | 'text'
  | 'draftState'
  | 'mayDraft'
  | 'collapsed'
  | 'shownItems'
  | 'removing'
> &
  FoundProblems;

export type Core = {
  readonly session: () => Session;
  readonly view: () => View;
  readonly set: (session: Session, change?: Partial<View>) => void;
  /** The version read while publishing. It may be our own change, so it is handled after the response. */
  waiting?: WorkflowObject;
  /** Resolves the question whether the changes are published. */
  answer?: (confirmation: Confirmation | undefined) => void;
  stored?: Stored;
  /** What was sent without an answer: the API server may have stored one of them. */
  unanswered: Unanswered[];
  /** The draft that was sent to be published without an answer. */
  unconfirmed?: Draft;
  /** The UIDs of drafts that this page removed: news of them may come later. */
  removedDrafts: Set<string>;
  /** Ends with the last write of the draft. */
  writing: Promise<DraftResult>;
  /** A draft that is read meanwhile may be the own one. */
  isWriting: boolean;
  waitingDraft?: DraftObject | null;
};
