/**
 * An editing session: the published version, the draft, and what others published. Pure transitions: no
 * input is lost, and no change of others is overwritten unseen.
 */
import type { KubeObject, WorkflowObject } from '../../kube/resources.ts';
import { draftOf, isSameCanvas } from './annotation.ts';
import { edgesOf, writtenEdges } from './graph.ts';
import { rebaseHistory, historyOf, recorded, redone, undone, type History } from './history.ts';
import type { Draft, Operation } from './model.ts';
import { isEqual } from '../../kube/patch.ts';
import { rebaseDraft } from './patch.ts';
import { withPinsOf } from './pins.ts';

export type Session = {
  /** The object as last read, on which the draft is based. */
  readonly workflow: WorkflowObject;
  /** The draft of that object. */
  readonly saved: Draft;
  readonly history: History<Draft>;
  /** A version that someone else saved and that conflicts with the draft. */
  readonly theirs?: WorkflowObject;
};

export function opened(workflow: WorkflowObject): Session {
  const saved = draftOf(workflow);
  return { workflow, saved, history: historyOf(saved) };
}

export function edited(
  session: Session,
  operation: Operation,
  change: { key?: string; at: number },
): Session {
  const history = recorded(session.history, operation(session.history.present), change);
  return history === session.history ? session : { ...session, history };
}

/** Chains are saved without `edges` if the object has none, so that its manifest still applies. */
export function withoutChainEdges(session: Session): Session {
  const { saved, history } = session;
  const { edges, ...spec } = history.present.spec;
  if (edges === undefined || saved.spec.edges !== undefined) return session;
  if (writtenEdges(spec.nodes, edgesOf({ ...spec, edges })) !== undefined) return session;
  return { ...session, history: { ...history, present: { ...history.present, spec } } };
}

export function stepped(session: Session, way: 'back' | 'forward'): Session {
  const history = way === 'back' ? undone(session.history) : redone(session.history);
  return history === undefined ? session : { ...session, history };
}

const published = ({ spec, positions, notes }: Draft) => ({ spec, positions, notes });

export function isDirty({ saved, history }: Session): boolean {
  return !isEqual(published(saved), published(history.present));
}

/** The result of reading the object again. */
export type Received = {
  session: Session;
  /**
   * `same`: only the status changed. `switched`: only `active` or `suspend` changed. `updated`: the new
   * version is shown. `rebased`: my changes are on top of theirs. `conflict`: people must decide, also about
   * changes of a workflow that was deleted and of which another one has the name.
   */
  outcome: 'same' | 'switched' | 'updated' | 'rebased' | 'conflict';
};

/** Handles a new version that someone saved or the operator updated. Older versions are ignored. */
export function receive(session: Session, workflow: WorkflowObject): Received {
  if (isOlder(workflow, session.workflow)) return { session, outcome: 'same' };
  const theirs = draftOf(workflow);
  if (isSameContent(workflow, session.workflow)) {
    const { theirs: _resolved, ...rest } = session;
    return { session: { ...rest, workflow }, outcome: 'same' };
  }
  const mine = session.history.present;
  const pinned = withPinsOf(theirs, mine);
  const isTheirs = !isDirty(session) || isEqual(mine, pinned);
  const isAnother = workflow.metadata.uid !== session.workflow.metadata.uid;
  const onTop = isAnother ? undefined : rebaseDraft(session.saved, mine, theirs);
  const present = isTheirs ? pinned : onTop;
  if (present === undefined) return { session: { ...session, theirs: workflow }, outcome: 'conflict' };
  // Their changes are no undo step of mine: undo would revert them, and the next save would overwrite them
  // silently.
  const history = rebaseHistory(session.history, present, (draft) =>
    rebaseDraft(session.saved, draft, theirs),
  );
  return {
    session: { workflow, saved: theirs, history },
    outcome: isOnlySwitched(session, workflow) ? 'switched' : isTheirs ? 'updated' : 'rebased',
  };
}

/** Handles the response to a save. Edits made meanwhile stay, and a recreated workflow stays inactive. */
export function stored(session: Session, workflow: WorkflowObject, sent: Draft): Session {
  const saved = draftOf(workflow);
  const mine = session.history.present;
  const { active } = mine.spec.active === sent.spec.active ? saved.spec : mine.spec;
  const present = { ...mine, spec: mine === sent ? saved.spec : { ...mine.spec, active } };
  return {
    workflow,
    saved: mine === sent ? { ...saved, positions: mine.positions } : saved,
    history: { ...session.history, present },
  };
}

/** Handles a resolved conflict: this draft, based on theirs. */
export function resolved(session: Session, draft: Draft | 'theirs'): Session {
  const workflow = session.theirs ?? session.workflow;
  const theirs = draftOf(workflow);
  const present = draft === 'theirs' ? withPinsOf(theirs, session.history.present) : draft;
  const history = recorded(session.history, present, { at: 0 });
  return { workflow, saved: theirs, history };
}

/** Whether only `active` or `suspend` changed: toggle and state show that. */
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
  return isEqual(one.spec, other.spec) && isSameCanvas(one.metadata.annotations, other.metadata.annotations);
}

/** Resource versions of one object are increasing numbers. */
export function isOlder(one: KubeObject, other: KubeObject): boolean {
  if (one.metadata.uid !== other.metadata.uid) return false;
  const [a, b] = [one.metadata.resourceVersion ?? '', other.metadata.resourceVersion ?? ''];
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) < BigInt(b);
}
