/**
 * An editing session: the published version, the draft, and versions that others publish. Pure transitions,
 * which return a new session. No input is lost, and no change of others is overwritten without a
 * confirmation.
 */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { KubeObject, WorkflowObject } from '../../kube/resources.ts';
import { draftOf, isSameCanvas } from './annotation.ts';
import { edgesOf, writtenEdges } from './graph.ts';
import { rebaseHistory, historyOf, recorded, redone, undone, type History } from './history.ts';
import type { Draft, Operation } from './model.ts';
import { isEqual } from '../../kube/patch.ts';
import { rebaseDraft } from './patch.ts';
import { withPinsOf } from './pins.ts';

export type Session = {
  /** The published version that the draft is based on. */
  readonly workflow: WorkflowObject;
  /** That version as a draft without changes. */
  readonly saved: Draft;
  readonly history: History<Draft>;
  /** A version that somebody else published and that conflicts with the draft. */
  readonly theirs?: WorkflowObject;
};

/** A session without changes. */
export function opened(workflow: WorkflowObject): Session {
  const saved = draftOf(workflow);
  return { workflow, saved, history: historyOf(saved) };
}

/** Changes the draft. Changes with the same `key` in quick succession are one undo step; `at` in ms. */
export function edited(
  session: Session,
  operation: Operation,
  change: { key?: string; at: number },
): Session {
  const history = recorded(session.history, operation(session.history.present), change);
  return history === session.history ? session : { ...session, history };
}

/**
 * Drops the `edges` of a plain chain if the published version has none, so that its manifest does not
 * change.
 */
export function withoutChainEdges(session: Session): Session {
  const { saved, history } = session;
  const { edges, ...spec } = history.present.spec;
  if (edges === undefined || saved.spec.edges !== undefined) return session;
  if (writtenEdges(spec.nodes, edgesOf({ ...spec, edges })) !== undefined) return session;
  return { ...session, history: { ...history, present: { ...history.present, spec } } };
}

/** Undoes (`back`) or redoes (`forward`) one step. */
export function steppedInHistory(session: Session, way: 'back' | 'forward'): Session {
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
   * `same`: only the status changed. `switched`: only `active` or `suspend` changed. `updated`: the draft
   * is the new version. `rebased`: my changes are on top of theirs. `conflict`: the user must decide. If the
   * workflow was deleted and recreated, all changes are in conflict.
   */
  outcome: 'same' | 'switched' | 'updated' | 'rebased' | 'conflict';
};

/** Handles a new version of the object, of a user or of the operator. Older versions are ignored. */
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
  const isRecreated = workflow.metadata.uid !== session.workflow.metadata.uid;
  const rebased = isRecreated ? undefined : rebaseDraft(session.saved, mine, theirs);
  const present = isTheirs ? pinned : rebased;
  if (present === undefined)
    return { session: { ...switchedAs(session, workflow), theirs: workflow }, outcome: 'conflict' };
  // Their changes are no undo step: undo would revert them, and the next publish would overwrite them
  // silently.
  const history = rebaseHistory(session.history, present, (draft) =>
    rebaseDraft(session.saved, draft, theirs),
  );
  return {
    session: { workflow, saved: theirs, history },
    outcome: isOnlySwitched(session, workflow) ? 'switched' : isTheirs ? 'updated' : 'rebased',
  };
}

/**
 * Handles the response to publishing. Keeps later edits. A recreated workflow stays inactive, also after
 * undo.
 */
export function afterPublishing(session: Session, workflow: WorkflowObject, sent: Draft): Session {
  const saved = draftOf(workflow);
  const { past, present: mine, future } = session.history;
  const change = (draft: Draft): Draft => switched(draft, sent.spec, saved.spec);
  const present = mine === sent ? { ...mine, spec: saved.spec } : change(mine);
  return {
    workflow,
    saved: mine === sent ? { ...saved, positions: mine.positions } : saved,
    history: { ...session.history, past: past.map(change), present, future: future.map(change) },
  };
}

type Switches = Pick<WorkflowSpec, 'active' | 'suspend'>;

/** The draft with the switches that another version has, except for those that it changed itself. */
function switched(draft: Draft, before: Switches, now: Switches): Draft {
  const { active: was, suspend: paused, ...rest } = draft.spec;
  const active = was === before.active ? now.active : was;
  const suspend = (paused ?? false) === (before.suspend ?? false) ? now.suspend : paused;
  if (active === was && (suspend ?? false) === (paused ?? false)) return draft;
  return { ...draft, spec: { ...rest, active, ...(suspend !== undefined && { suspend }) } };
}

/**
 * The session with the switches of a version that it is in conflict with: what somebody stopped stays stopped
 * when the conflict is resolved with this draft, and the page shows that it is stopped.
 */
function switchedAs(session: Session, { spec }: WorkflowObject): Session {
  const { workflow, saved, history } = session;
  const change = (draft: Draft): Draft => switched(draft, saved.spec, spec);
  const base = change(saved);
  if (base === saved) return session;
  const { active, suspend } = base.spec;
  const { suspend: _before, ...others } = workflow.spec;
  return {
    ...session,
    workflow: { ...workflow, spec: { ...others, active, ...(suspend !== undefined && { suspend }) } },
    saved: base,
    history: rebaseHistory(history, change(history.present), change),
  };
}

/** Resolves a conflict: continues with this draft, based on their version. */
export function resolved(session: Session, draft: Draft | 'theirs'): Session {
  const workflow = session.theirs ?? session.workflow;
  const theirs = draftOf(workflow);
  const present = draft === 'theirs' ? withPinsOf(theirs, session.history.present) : draft;
  const history = recorded(session.history, present, { at: 0 });
  return { workflow, saved: theirs, history };
}

/** Goes back to what is published: in a conflict, to their version. Pinned outputs stay. */
export function discarded(session: Session, at: number): Session {
  if (session.theirs !== undefined) return resolved(session, 'theirs');
  return edited(session, (draft) => withPinsOf(session.saved, draft), { at });
}

/** Whether only `active` or `suspend` changed, which the page shows without a notification. */
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

/** Whether `one` is older. Resource versions of one object are increasing numbers. */
export function isOlder(one: KubeObject, other: KubeObject): boolean {
  if (one.metadata.uid !== other.metadata.uid) return false;
  const [a, b] = [one.metadata.resourceVersion ?? '', other.metadata.resourceVersion ?? ''];
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) < BigInt(b);
}
