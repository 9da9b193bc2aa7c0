/**
 * Creates the editor's store: connects the pure session with view, publishing, stored draft and subscribers.
 */
import { ApiFailure, failureFrom } from '../../http/failure.ts';
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { notifySuccess, notifyFailure, notifyProblem } from '../../ui/notify.tsx';
import { edgeId } from '../model/graph.ts';
import { liveChanges, specChanges } from '../model/changes.ts';
import { whoChanged } from '../model/owners.ts';
import { withoutRemoved } from './removed.ts';
import { withPinsOf } from '../model/pins.ts';
import { draftProblems } from '../model/problems.ts';
import type { Core, View } from './core.ts';
import {
  beginWith,
  isUnstored,
  receiveStored,
  removeForeign,
  resolveDraft,
  saveDraft,
} from './draftSaving.ts';
import { shownProblems } from './problems.ts';
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
import type {
  Asks,
  Confirmation,
  EditorActions,
  EditorState,
  EditorStore,
  Mode,
  PanelTab,
  Selection,
} from './store.ts';
import type { Publication } from '../../../api/version.ts';

const NOTHING: Selection = { nodes: [], edges: [] };

/** `object`: the stored draft, if there is one. `mayDraft`: whether the user may store drafts. */
export function createEditorStore(
  workflow: WorkflowObject,
  mode: Mode,
  { object, mayDraft }: { object?: DraftObject; mayDraft: boolean },
): EditorStore {
  let session = opened(workflow);
  let view: View = {
    mode,
    isDeleted: false,
    isPublishing: false,
    draftState: { kind: 'idle' },
    mayDraft,
    selection: NOTHING,
    panel: undefined,
    tab: 'parameters',
    picker: undefined,
    isComparing: false,
    isAsking: false,
    unreadable: undefined,
    text: undefined,
    collapsed: new Set(),
    shownItems: {},
    removing: undefined,
    found: [],
    foundIn: undefined,
    references: [],
    referencesIn: undefined,
  };
  let state = stateOf(session, view);
  const listeners = new Set<() => void>();
  const core: Core = {
    writing: Promise.resolve('same'),
    isWriting: false,
    removedDrafts: new Set(),
    session: () => session,
    view: () => view,
    set: (next, change = {}) => {
      session = next;
      view = withoutRemoved({ ...view, ...change }, next.history.present);
      state = stateOf(session, view, state);
      for (const listener of listeners) listener();
    },
  };
  beginWith(core, object);
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
    openNode: (id, tab) => openNode(core, id, tab),
    showTab: (tab) => show({ tab }),
    openEdge: (edge) =>
      show({ panel: { edge }, picker: undefined, selection: { nodes: [], edges: [edgeId(edge)] } }),
    toggleCollapsed: (group) => show({ collapsed: view().collapsed.symmetricDifference(new Set([group])) }),
    showItem: (loop, index) => show({ shownItems: { ...view().shownItems, [loop]: index } }),
    askRemoval: (removing) => show({ removing }),
    closePanel: () => show({ panel: undefined, picker: undefined }),
    pick: (picker) => show({ picker, panel: undefined }),
    setMode: (mode) => show({ mode }),
    setDeleted: (isDeleted) => show({ isDeleted }),
    publish: (asks) => publish(core, { asks }),
    answer: (confirmation) => core.answer?.(confirmation),
    discard: () =>
      set(
        edited(session(), (draft) => withPinsOf(session().saved, draft), { at: Date.now() }),
        { unreadable: undefined, text: undefined },
      ),
    saveDraft: () => saveDraft(core),
    isUnstored: () => isUnstored(core),
    updateDraft: (object) => receiveStored(core, object),
    resolveDraft: (choice) => resolveDraft(core, choice),
    removeForeign: () => removeForeign(core),
    update: (workflow) => update(core, workflow),
    setDraftProblems: (found, foundIn) => show({ found, foundIn }),
    setReferenceProblems: (references, referencesIn) => show({ references, referencesIn }),
    compare: (isComparing) => show({ isComparing }),
    setUnreadable: (invalid) => show({ unreadable: invalid?.why, text: invalid?.text }),
    resolve: (draft) => set(resolved(session(), draft), { isComparing: false }),
  };
}

function update(core: Core, read: WorkflowObject): void {
  if (core.view().isPublishing) {
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

type Publishing = { asks: Asks; confirmation?: Confirmation };

async function publish(core: Core, publishing: Publishing): Promise<boolean> {
  if (!mayPublish(core)) return false;
  core.set(withoutChainEdges(core.session()));
  const { asks, confirmation } = publishing;
  if (confirmation !== undefined || !isShown(core, asks)) return send(core, publishing);
  const given = await confirmed(core);
  return given !== undefined && publish(core, { asks, confirmation: given });
}

/** Whether the draft can be published. Otherwise the user is told why. */
function mayPublish({ session, view, set }: Core): boolean {
  const { isPublishing, isAsking, mode, unreadable } = view();
  if (isPublishing || isAsking || mode !== 'edit') return false;
  if (unreadable !== undefined) {
    notifyFailure('Not published', unreadableFailure(unreadable));
    return false;
  }
  if (session().theirs === undefined) return true;
  set(session(), { isComparing: true });
  return false;
}

/** A deleted workflow is recreated as inactive. */
function isShown({ session, view }: Core, asks: Asks): boolean {
  const { saved, history } = session();
  const changes = asks === 'live' ? liveChanges : specChanges;
  return !view().isDeleted && changes(saved, history.present).length > 0;
}

async function send(core: Core, publishing: Publishing): Promise<boolean> {
  const { session, view, set } = core;
  set(session(), { isPublishing: true });
  const result = await (view().isDeleted
    ? recreate(session())
    : saveSession(session(), publicationIn(publishing)));
  if (result.kind === 'saved')
    set(stored(session(), result.workflow, result.sent), { isPublishing: false, isDeleted: false });
  else set(session(), { isPublishing: false });
  handlePending(core);
  if (result.kind === 'newer') return publishOnTop(core, result.workflow, publishing);
  if (result.kind === 'failed') notifyNotPublished(core, result.error);
  if (result.kind === 'saved') {
    notifySuccess('Published');
    void saveDraft(core);
  }
  return result.kind !== 'failed' && !isDirty(session());
}

function publicationIn({ confirmation }: Publishing): Publication | undefined {
  const { by, message = '' } = confirmation ?? {};
  return by === undefined ? undefined : { by, ...(message.trim() !== '' && { message: message.trim() }) };
}

/** Shows the changes, and asks whether to publish them; undefined: no. */
function confirmed(core: Core): Promise<Confirmation | undefined> {
  const { promise, resolve } = Promise.withResolvers<Confirmation | undefined>();
  core.answer = (confirmation) => {
    delete core.answer;
    core.set(core.session(), { isAsking: false });
    resolve(confirmation);
  };
  core.set(core.session(), { isAsking: true });
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

/**
 * Someone else published first: publish on top if the changes do not conflict; otherwise the user decides.
 */
function publishOnTop(core: Core, newer: WorkflowObject, publishing: Publishing): Promise<boolean> {
  update(core, newer);
  return publish(core, publishing);
}

function notifyNotPublished(core: Core, error: unknown): void {
  const { session, set } = core;
  const { causes } = failureFrom(error);
  const { spec } = session().history.present;
  const found = draftProblems(causes, spec);
  if (causes.length > 0) set(session(), { found, foundIn: spec });
  const [first] = found.flatMap(({ place, problem }) =>
    place !== undefined && 'node' in place ? [{ node: place.node, ...problem }] : [],
  );
  if (first === undefined) {
    notifyFailure('Not published', error);
    return;
  }
  const { node, message } = first;
  notifyProblem('Not published', message.startsWith(`node ${node}`) ? message : `${node}: ${message}`, {
    text: 'Go to node',
    onClick: () => openNode(core, node, 'parameters'),
  });
}

function openNode({ session, view, set }: Core, id: string, asked?: PanelTab): void {
  const { panel, tab: open } = view();
  const kept = panel !== undefined && 'node' in panel ? open : 'parameters';
  set(session(), {
    panel: { node: id },
    tab: asked ?? kept,
    picker: undefined,
    selection: { nodes: [id], edges: [] },
  });
}

function stateOf(session: Session, view: View, before?: EditorState): EditorState {
  const { workflow, saved, history, theirs } = session;
  const { found: _found, foundIn: _foundIn, references: _of, referencesIn: _in, ...shown } = view;
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
    problems: shownProblems(view, workflow, history.present),
  };
}
