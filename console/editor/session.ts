/**
 * An editing session: what is saved, what is being edited, and what others saved meanwhile. Pure transitions: nothing that somebody
 * typed is lost, and nothing that somebody else saved is overwritten unseen.
 */
import { type WorkflowObject } from '../kube/resources.ts';
import { draftOf, POSITIONS } from './annotation.ts';
import { isChain } from './graph.ts';
import { carried, historyOf, recorded, redone, undone, type History } from './history.ts';
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

/** Before saving: a chain is saved without `edges` where the object has none, so that its manifest still applies. */
export function withoutChainEdges(session: Session): Session {
  const { saved, history } = session;
  const { edges, ...spec } = history.present.spec;
  if (edges === undefined || saved.spec.edges !== undefined || !isChain(spec.nodes, edges)) return session;
  return { ...session, history: { ...history, present: { ...history.present, spec } } };
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
  const isTheirs = !isDirty(session) || isEqual(mine, theirs);
  const present = isTheirs ? theirs : rebased(session.saved, mine, theirs);
  if (present === undefined) return { session: { ...session, theirs: workflow }, outcome: 'conflict' };
  // What they saved is no step of mine: undo would take it back, and the next save would overwrite it without a word.
  const history = carried(session.history, present, (draft) => rebased(session.saved, draft, theirs));
  return {
    session: { workflow, saved: theirs, history },
    outcome: isOnlySwitched(session, workflow) ? 'switched' : isTheirs ? 'taken' : 'joined',
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

/** Whether nothing but `active` or `suspend` is another than it was: toggle and state show that. */
function isOnlySwitched({ workflow }: Session, read: WorkflowObject): boolean {
  const switched = ({ spec: { active, suspend = false, ...spec } }: WorkflowObject) => ({
    switches: { active, suspend },
    rest: { ...read, spec: { active: true, ...spec } },
  });
  const [before, after] = [switched(workflow), switched(read)];
  return (
    !isEqual(before.switches, after.switches) &&
    isSameContent({ ...workflow, spec: before.rest.spec }, after.rest)
  );
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
