/** Creates the editor's store: connects the pure session with the view, saving and the subscribers. */
import { ApiFailure, failureFrom } from '../../http/failure.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { notifySuccess, notifyFailure, notifyProblem } from '../../ui/notify.tsx';
import { edgeId } from '../model/graph.ts';
import { liveChanges } from '../model/changes.ts';
import { whoChanged } from '../model/owners.ts';
import { withoutRemoved } from './removed.ts';
import { draftProblems, NO_PROBLEMS, problemsOf, savedProblems, type Problems } from '../model/problems.ts';
import { recreate, saveSession } from './saving.ts';
import {
  edited,
  isDirty,
  opened,
  resolved,
  receive,
  stepped,
  stored,
  withoutChainEdges,
  type Session,
} from '../model/session.ts';
import type { EditorActions, EditorState, EditorStore, Mode, Selection } from './store.ts';

const NOTHING: Selection = { nodes: [], edges: [] };

type View = Pick<
  EditorState,
  | 'mode'
  | 'isDeleted'
  | 'isSaving'
  | 'selection'
  | 'panel'
  | 'picker'
  | 'isComparing'
  | 'isAskingLive'
  | 'unreadable'
  | 'collapsed'
  | 'shownItems'
  | 'removing'
> & {
  found: Parameters<typeof problemsOf>[0];
};

type Core = {
  readonly session: () => Session;
  readonly view: () => View;
  readonly set: (session: Session, change?: Partial<View>) => void;
  /** The version read while saving. It may be our own change, so it is handled after the response. */
  waiting?: WorkflowObject;
  /** Resolves the question whether changes may go live. */
  answer?: (isConfirmed: boolean) => void;
};

export function createEditorStore(workflow: WorkflowObject, mode: Mode): EditorStore {
  let session = opened(workflow);
  let view: View = {
    mode,
    isDeleted: false,
    isSaving: false,
    selection: NOTHING,
    panel: undefined,
    picker: undefined,
    isComparing: false,
    isAskingLive: false,
    unreadable: undefined,
    collapsed: new Set(),
    shownItems: {},
    removing: undefined,
    found: [],
  };
  let state = stateOf(session, view);
  const listeners = new Set<() => void>();
  const core: Core = {
    session: () => session,
    view: () => view,
    set: (next, change = {}) => {
      session = next;
      view = withoutRemoved({ ...view, ...change }, next.history.present);
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
    openNode: (id) => openNode(core, id),
    openEdge: (edge) =>
      show({ panel: { edge }, picker: undefined, selection: { nodes: [], edges: [edgeId(edge)] } }),
    toggleCollapsed: (group) => show({ collapsed: view().collapsed.symmetricDifference(new Set([group])) }),
    showItem: (loop, index) => show({ shownItems: { ...view().shownItems, [loop]: index } }),
    askRemoval: (removing) => show({ removing }),
    closePanel: () => show({ panel: undefined, picker: undefined }),
    pick: (picker) => show({ picker, panel: undefined }),
    setMode: (mode) => show({ mode }),
    setDeleted: (isDeleted) => show({ isDeleted }),
    save: () => save(core, false),
    answerLive: (isConfirmed) => core.answer?.(isConfirmed),
    discard: () => set(edited(session(), () => session().saved, { at: Date.now() })),
    update: (workflow) => update(core, workflow),
    setDraftProblems: (found) => show({ found }),
    compare: (isComparing) => show({ isComparing }),
    setUnreadable: (unreadable) => show({ unreadable }),
    resolve: (draft) => set(resolved(session(), draft), { isComparing: false }),
  };
}

function update(core: Core, read: WorkflowObject): void {
  if (core.view().isSaving) {
    core.waiting = read;
    return;
  }
  const { session, outcome } = receive(core.session(), read);
  core.set(session);
  if (outcome === 'updated')
    notifySuccess(`${whoChanged(read)} changed this workflow. The page shows the new version.`);
  if (outcome === 'rebased')
    notifySuccess(`${whoChanged(read)} changed this workflow. Your changes are kept.`);
}

/** `isConfirmed`: the user confirmed that the changes go live. */
async function save(core: Core, isConfirmed: boolean): Promise<boolean> {
  if (!maySave(core)) return false;
  core.set(withoutChainEdges(core.session()));
  if (!isConfirmed && goesLive(core)) return (await confirmLive(core)) && save(core, true);
  return send(core, isConfirmed);
}

/** Whether the draft can be saved. Otherwise the user is told why. */
function maySave({ session, view, set }: Core): boolean {
  const { isSaving, isAskingLive, mode, unreadable } = view();
  if (isSaving || isAskingLive || mode !== 'edit') return false;
  if (unreadable !== undefined) {
    notifyFailure('Not saved', unreadableFailure(unreadable));
    return false;
  }
  if (session().theirs === undefined) return true;
  set(session(), { isComparing: true });
  return false;
}

/** A deleted workflow is recreated as inactive. */
function goesLive({ session, view }: Core): boolean {
  return !view().isDeleted && liveChanges(session().saved, session().history.present).length > 0;
}

async function send(core: Core, isConfirmed: boolean): Promise<boolean> {
  const { session, view, set } = core;
  set(session(), { isSaving: true });
  const result = await (view().isDeleted ? recreate(session()) : saveSession(session()));
  if (result.kind === 'saved')
    set(stored(session(), result.workflow, result.sent), { isSaving: false, isDeleted: false });
  else set(session(), { isSaving: false });
  handlePending(core);
  if (result.kind === 'newer') return saveOnTop(core, result.workflow, isConfirmed);
  if (result.kind === 'failed') notifyNotSaved(core, result.error);
  if (result.kind === 'saved') notifySuccess('Saved');
  return result.kind !== 'failed' && !isDirty(session());
}

/** Asks whether the changes may go live. */
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
  return new ApiFailure({ status: -1, title: 'The YAML is invalid', detail: why, reason: 'unreadable' });
}

function handlePending(core: Core): void {
  const read = core.waiting;
  delete core.waiting;
  if (read) update(core, read);
}

/** Someone else saved first: save on top if the changes do not conflict; otherwise the user decides. */
function saveOnTop(core: Core, newer: WorkflowObject, isConfirmed: boolean): Promise<boolean> {
  update(core, newer);
  return save(core, isConfirmed);
}

function notifyNotSaved(core: Core, error: unknown): void {
  const { session, set } = core;
  const { causes } = failureFrom(error);
  const found = draftProblems(causes, session().history.present.spec);
  if (causes.length > 0) set(session(), { found });
  const [first] = found.flatMap(({ place, problem }) =>
    place !== undefined && 'node' in place ? [{ node: place.node, ...problem }] : [],
  );
  if (first === undefined) {
    notifyFailure('Not saved', error);
    return;
  }
  const { node, message } = first;
  notifyProblem('Not saved', message.startsWith(`node ${node}`) ? message : `${node}: ${message}`, {
    text: 'Go to node',
    onClick: () => openNode(core, node),
  });
}

function openNode({ session, set }: Core, id: string): void {
  set(session(), { panel: { node: id }, picker: undefined, selection: { nodes: [id], edges: [] } });
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

/** Returns the same object for equal input, so that nodes are not redrawn. */
function allProblems(found: View['found'], workflow: WorkflowObject): Problems {
  if (known?.found === found && known.workflow === workflow) return known.problems;
  const all = [...found, ...savedProblems(workflow)];
  const problems = all.length === 0 ? NO_PROBLEMS : problemsOf(all);
  known = { found, workflow, problems };
  return problems;
}
