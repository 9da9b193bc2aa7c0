/** Makes the editor's store: binds the pure session to what is shown, to saving, and to whoever listens. */
import { ApiFailure, failureFrom } from '../http/failure.ts';
import type { WorkflowObject } from '../kube/resources.ts';
import { tellDone, tellFailure } from '../shell/tell.ts';
import { edgeId } from './graph.ts';
import { liveChanges } from './live/changes.ts';
import { whoChanged } from './owners.ts';
import { withoutGone } from './gone.ts';
import { draftProblems, NO_PROBLEMS, problemsOf, savedProblems, type Problems } from './problems.ts';
import { createAgain, saveSession } from './saving.ts';
import {
  edited,
  isDirty,
  opened,
  resolved,
  seen,
  stepped,
  stored,
  withoutChainEdges,
  type Session,
} from './session.ts';
import type { EditorActions, EditorState, EditorStore, Mode, Selection } from './store.ts';

const NOTHING: Selection = { nodes: [], edges: [] };

type View = Pick<
  EditorState,
  | 'mode'
  | 'isGone'
  | 'isSaving'
  | 'selection'
  | 'panel'
  | 'picker'
  | 'isComparing'
  | 'isAskingLive'
  | 'unreadable'
> & {
  found: Parameters<typeof problemsOf>[0];
};

/** What the actions work on. */
type Core = {
  readonly session: () => Session;
  readonly view: () => View;
  readonly set: (session: Session, change?: Partial<View>) => void;
  /** What was read while saving: it may be our own change, and is looked at when the answer is there. */
  waiting?: WorkflowObject;
  /** Takes the answer to whether the changes may go live. */
  answer?: (isConfirmed: boolean) => void;
};

/** A store for this workflow. */
export function createEditorStore(workflow: WorkflowObject, mode: Mode): EditorStore {
  let session = opened(workflow);
  let view: View = {
    mode,
    isGone: false,
    isSaving: false,
    selection: NOTHING,
    panel: undefined,
    picker: undefined,
    isComparing: false,
    isAskingLive: false,
    unreadable: undefined,
    found: [],
  };
  let state = stateOf(session, view);
  const listeners = new Set<() => void>();
  const core: Core = {
    session: () => session,
    view: () => view,
    set: (next, change = {}) => {
      session = next;
      view = withoutGone({ ...view, ...change }, next.history.present);
      state = stateOf(session, view, state);
      for (const listener of listeners) listener();
    },
  };
  return {
    get: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ...actionsOf(core),
  };
}

function actionsOf(core: Core): EditorActions {
  const { session, view, set } = core;
  const show = (change: Partial<View>) => set(session(), change);
  return {
    apply: (operation, { key } = {}) => {
      if (view().mode !== 'read')
        set(edited(session(), operation, { at: Date.now(), ...(key !== undefined && { key }) }));
    },
    undo: () => set(stepped(session(), 'back')),
    redo: () => set(stepped(session(), 'forward')),
    select: (selection) => show({ selection: { ...NOTHING, ...selection } }),
    openNode: (id) => show({ panel: { node: id }, picker: undefined, selection: { nodes: [id], edges: [] } }),
    openEdge: (edge) =>
      show({ panel: { edge }, picker: undefined, selection: { nodes: [], edges: [edgeId(edge)] } }),
    closePanel: () => show({ panel: undefined, picker: undefined }),
    pick: (picker) => show({ picker, panel: undefined }),
    setMode: (mode) => show({ mode }),
    setGone: (isGone) => show({ isGone }),
    save: () => save(core, false),
    answerLive: (isConfirmed) => core.answer?.(isConfirmed),
    discard: () => set(edited(session(), () => session().saved, { at: Date.now() })),
    see: (workflow) => see(core, workflow),
    setDraftProblems: (found) => show({ found }),
    compare: (isComparing) => show({ isComparing }),
    setUnreadable: (unreadable) => show({ unreadable }),
    resolve: (draft) => set(resolved(session(), draft), { isComparing: false }),
  };
}

function see(core: Core, read: WorkflowObject): void {
  if (core.view().isSaving) {
    core.waiting = read;
    return;
  }
  const { session, outcome } = seen(core.session(), read);
  core.set(session);
  if (outcome === 'taken') tellDone(`${whoChanged(read)} changed this workflow. You see the new version.`);
  if (outcome === 'joined') tellDone(`${whoChanged(read)} changed this workflow. Your changes are kept.`);
}

/** `isConfirmed`: somebody has seen that the changes go live. */
async function save(core: Core, isConfirmed: boolean): Promise<boolean> {
  if (!maySave(core)) return false;
  core.set(withoutChainEdges(core.session()));
  if (!isConfirmed && goesLive(core)) return (await confirmLive(core)) && save(core, true);
  return send(core, isConfirmed);
}

/** Whether it can be saved as it is; people are told otherwise. */
function maySave({ session, view, set }: Core): boolean {
  const { isSaving, isAskingLive, mode, unreadable } = view();
  if (isSaving || isAskingLive || mode !== 'edit') return false;
  if (unreadable !== undefined) {
    tellFailure('The workflow was not saved', unreadableFailure(unreadable));
    return false;
  }
  if (session().theirs === undefined) return true;
  set(session(), { isComparing: true });
  return false;
}

/** What is gone is created again switched off. */
function goesLive({ session, view }: Core): boolean {
  return !view().isGone && liveChanges(session().saved, session().history.present).length > 0;
}

async function send(core: Core, isConfirmed: boolean): Promise<boolean> {
  const { session, view, set } = core;
  set(session(), { isSaving: true });
  const result = await (view().isGone ? createAgain(session()) : saveSession(session()));
  if (result.kind === 'saved')
    set(stored(session(), result.workflow, result.sent), { isSaving: false, isGone: false });
  else set(session(), { isSaving: false });
  seeWaiting(core);
  if (result.kind === 'newer') return saveOnTop(core, result.workflow, isConfirmed);
  if (result.kind === 'failed') tellNotSaved(core, result.error);
  if (result.kind === 'saved') tellDone('Saved.');
  return result.kind !== 'failed' && !isDirty(session());
}

/** Asks whether the changes may go live; resolves with the answer. */
function confirmLive(core: Core): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  core.answer = (isConfirmed) => {
    delete core.answer;
    core.set(core.session(), { isAskingLive: false });
    resolve(isConfirmed);
  };
  core.set(core.session(), { isAskingLive: true });
  return promise;
}

function unreadableFailure(why: string): ApiFailure {
  return new ApiFailure({ status: -1, title: 'The YAML cannot be read', detail: why, reason: 'unreadable' });
}

function seeWaiting(core: Core): void {
  const read = core.waiting;
  delete core.waiting;
  if (read) see(core, read);
}

/** Somebody was faster: where the two changes go together they are saved, else people decide. */
function saveOnTop(core: Core, newer: WorkflowObject, isConfirmed: boolean): Promise<boolean> {
  see(core, newer);
  return save(core, isConfirmed);
}

function tellNotSaved({ session, set }: Core, error: unknown): void {
  const { causes } = failureFrom(error);
  if (causes.length > 0) set(session(), { found: draftProblems(causes, session().history.present.spec) });
  tellFailure('The workflow was not saved', error);
}

function stateOf(session: Session, view: View, before?: EditorState): EditorState {
  const { workflow, saved, history, theirs } = session;
  const { found, ...shown } = view;
  const isUnreadable = view.unreadable !== undefined;
  const dirty =
    before?.saved === saved &&
    before.draft === history.present &&
    !isUnreadable &&
    before.unreadable === undefined
      ? before.isDirty
      : isDirty(session);
  return {
    namespace: workflow.metadata.namespace ?? '',
    name: workflow.metadata.name,
    workflow,
    saved,
    draft: history.present,
    theirs,
    ...shown,
    isReadOnly: view.mode === 'read' || isUnreadable,
    isDirty: dirty || isUnreadable,
    canUndo: history.past.length > 0 && !isUnreadable,
    canRedo: history.future.length > 0 && !isUnreadable,
    problems: allProblems(found, workflow),
  };
}

let known: { found: View['found']; workflow: WorkflowObject; problems: Problems } | undefined;

/** The same object for the same facts, so that nodes are not drawn anew for nothing. */
function allProblems(found: View['found'], workflow: WorkflowObject): Problems {
  if (known?.found === found && known.workflow === workflow) return known.problems;
  const all = [...found, ...savedProblems(workflow)];
  const problems = all.length === 0 ? NO_PROBLEMS : problemsOf(all);
  known = { found, workflow, problems };
  return problems;
}
