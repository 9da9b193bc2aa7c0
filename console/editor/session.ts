/**
 * An editing session: what is saved, what is being edited, and what others saved meanwhile. Pure transitions: nothing that somebody
 * typed is lost, and nothing that somebody else saved is overwritten unseen.
 */
import { type WorkflowObject } from '../kube/resources.ts';
import { draftOf, POSITIONS } from './annotation.ts';
import { everywhere, historyOf, recorded, redone, undone, type History } from './history.ts';
import type { Draft, Operation } from './model.ts';
import { isEqual, rebased } from './patch.ts';

export type Session = {
  /** The object as it was last read: what the draft began from. */
  readonly workflow: WorkflowObject;
  /** The draft of that object. */
  readonly saved: Draft;
  readonly history: History<Draft>;
  /** What somebody else saved, where it does not go together with the draft. */
  readonly theirs?: WorkflowObject;
};

/** A session that begins with what is saved. */
export function opened(workflow: WorkflowObject): Session {
  const saved = draftOf(workflow);
  return { workflow, saved, history: historyOf(saved) };
}

/** After an operation. */
export function edited(
  session: Session,
  operation: Operation,
  change: { key?: string; at: number },
): Session {
  const history = recorded(session.history, operation(session.history.present), change);
  return history === session.history ? session : { ...session, history };
}

/** After undo or redo. */
export function stepped(session: Session, way: 'back' | 'forward'): Session {
  const history = way === 'back' ? undone(session.history) : redone(session.history);
  return history === undefined ? session : { ...session, history };
}

/** Whether there is something to save. */
export function isDirty({ saved, history }: Session): boolean {
  const { spec, positions } = history.present;
  return !isEqual(saved.spec, spec) || !isEqual(saved.positions, positions);
}

/** What came of reading the object anew. */
export type Seen = {
  session: Session;
  /**
   * `same`: only its status; `switched`: on or off, and nothing else; `taken`: their change is shown; `joined`: theirs below mine;
   * `conflict`: people must decide.
   */
  outcome: 'same' | 'switched' | 'taken' | 'joined' | 'conflict';
};

/** After somebody saved, or the operator wrote the status. An older version than the one that is known changes nothing. */
export function seen(session: Session, workflow: WorkflowObject): Seen {
  if (isOlder(workflow, session.workflow)) return { session, outcome: 'same' };
  const theirs = draftOf(workflow);
  if (isSameContent(workflow, session.workflow)) {
    const { theirs: _resolved, ...rest } = session;
    return { session: { ...rest, workflow }, outcome: 'same' };
  }
  const mine = session.history.present;
  if (isOnlySwitched(session, workflow)) return { session: switched(session, workflow), outcome: 'switched' };
  if (!isDirty(session) || isEqual(mine, theirs))
    return { session: replaced(session, workflow, theirs), outcome: 'taken' };
  const joined = rebased(session.saved, mine, theirs);
  if (joined === undefined) return { session: { ...session, theirs: workflow }, outcome: 'conflict' };
  return {
    session: { workflow, saved: theirs, history: { ...session.history, present: joined } },
    outcome: 'joined',
  };
}

/** After saving: what the API server answered is what is saved. What was typed meanwhile stays. */
export function stored(session: Session, workflow: WorkflowObject, sent: Draft): Session {
  const saved = draftOf(workflow);
  const mine = session.history.present;
  const present = mine === sent ? { spec: saved.spec, positions: mine.positions } : mine;
  return {
    workflow,
    saved: { spec: saved.spec, positions: mine === sent ? mine.positions : saved.positions },
    history: { ...session.history, present },
  };
}

/** After people decided a conflict: this draft, on top of theirs. */
export function resolved(session: Session, draft: Draft | 'theirs'): Session {
  const workflow = session.theirs ?? session.workflow;
  const theirs = draftOf(workflow);
  const present = draft === 'theirs' ? theirs : draft;
  const history = recorded(session.history, present, { at: 0 });
  return { workflow, saved: theirs, history };
}

function replaced(session: Session, workflow: WorkflowObject, saved: Draft): Session {
  return { workflow, saved, history: recorded(session.history, saved, { at: 0 }) };
}

/** Whether nothing but `active` is another than it was, and nobody has changed that in the draft. */
function isOnlySwitched({ workflow, saved, history }: Session, read: WorkflowObject): boolean {
  const { active } = workflow.spec;
  const isMine = history.present.spec.active !== saved.spec.active;
  return (
    !isMine &&
    active !== read.spec.active &&
    isSameContent(workflow, { ...read, spec: { ...read.spec, active } })
  );
}

/** The toggle takes effect at once, so it is no step that undo takes back: the next save would switch without a word. */
function switched({ saved, history, ...session }: Session, workflow: WorkflowObject): Session {
  const before = saved.spec.active;
  const { active } = workflow.spec;
  const switchedIn = (draft: Draft): Draft =>
    draft.spec.active === before ? { ...draft, spec: { ...draft.spec, active } } : draft;
  return { ...session, workflow, saved: switchedIn(saved), history: everywhere(history, switchedIn) };
}

function isSameContent(one: WorkflowObject, other: WorkflowObject): boolean {
  const positionsOf = ({ metadata }: WorkflowObject) => metadata.annotations?.[POSITIONS];
  return isEqual(one.spec, other.spec) && positionsOf(one) === positionsOf(other);
}

/** Versions of one object are numbers that grow. */
function isOlder(one: WorkflowObject, other: WorkflowObject): boolean {
  if (one.metadata.uid !== other.metadata.uid) return false;
  const [a, b] = [one.metadata.resourceVersion ?? '', other.metadata.resourceVersion ?? ''];
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) < BigInt(b);
}
