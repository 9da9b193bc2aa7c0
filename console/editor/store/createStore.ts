/**
 * Creates the editor's store: connects the pure session with the view, publishing, the stored draft and the
 * subscribers.
 */
import { settingLabel } from '../../forms/fields.ts';
import { ApiFailure, failureFrom } from '../../http/failure.ts';
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { notifySuccess, notifyFailure, notifyNotice, notifyProblem } from '../../ui/notify.tsx';
import { nodeName } from '../../workflows/kinds.ts';
import { draftOf } from '../model/annotation.ts';
import { shapesAfterStep, withoutAdded, withRenamedShapes, withShapes } from '../model/fieldShapes.ts';
import { edgeId } from '../model/graph.ts';
import { renameNode } from '../model/model.ts';
import { specChanges } from '../model/changes.ts';
import { whoChanged } from '../model/owners.ts';
import { withOtherId } from './withOtherId.ts';
import { withoutRemoved } from './withoutRemoved.ts';
import { draftProblems, type Found } from '../model/problems.ts';
import { hasSetting } from '../model/settings.ts';
import { isPublished } from '../model/storedDraft.ts';
import { restoredTexts, withRenamed, withText } from '../model/unapplied.ts';
import type { Core, View } from './core.ts';
import {
  beginWith,
  isUnstored,
  readForeignAgain,
  receiveStored,
  removeForeign,
  resolveDraft,
  saveDraft,
} from './draftSaving.ts';
import { shownProblems } from './problems.ts';
import { recreate, publishSession } from './publishing.ts';
import {
  discarded,
  edited,
  isDirty,
  opened,
  resolved,
  receive,
  steppedInHistory,
  afterPublishing,
  withoutChainEdges,
  type Session,
} from '../model/session.ts';
import type {
  Confirmation,
  EditorActions,
  EditorState,
  EditorStore,
  Mode,
  PanelTab,
  Selection,
} from './store.ts';
import { isEnabled } from '../../../api/access.ts';
import type { Publication } from '../../../api/version.ts';

const NOTHING: Selection = { nodes: [], edges: [] };

type Given = {
  /** The stored draft, if there is one. */
  object?: DraftObject;
  /** Whether the user may store drafts. */
  mayDraft: boolean;
  /** What the tab remembers of unapplied texts. */
  texts?: unknown;
};

export function createEditorStore(
  workflow: WorkflowObject,
  mode: Mode,
  { object, mayDraft, texts }: Given,
): EditorStore {
  let session = opened(workflow);
  let view: View = {
    mode,
    isDeleted: false,
    isPublishing: false,
    published: undefined,
    draftState: { kind: 'idle' },
    mayDraft,
    selection: NOTHING,
    panel: undefined,
    tab: 'parameters',
    picker: undefined,
    isComparing: false,
    isAsking: false,
    isAskedAgain: false,
    unreadable: undefined,
    text: undefined,
    unapplied: [],
    shapes: [],
    replaced: 0,
    collapsed: new Set(),
    shownItems: {},
    removing: undefined,
    pastedN8n: undefined,
    found: [],
    foundIn: undefined,
    references: [],
    referencesIn: undefined,
    credentials: undefined,
  };
  let state = stateOf(session, view);
  const listeners = new Set<() => void>();
  const core: Core = {
    writing: Promise.resolve('unchanged'),
    isWriting: false,
    unanswered: [],
    removedDrafts: new Set(),
    session: () => session,
    view: () => view,
    set: (next, change = {}) => {
      const { spec: before } = session.history.present;
      const shapes = withoutAdded(view.shapes, before, next.history.present.spec);
      session = next;
      view = withoutRemoved({ ...view, shapes, ...change }, next.history.present);
      state = stateOf(session, view, state);
      for (const listener of listeners) listener();
    },
  };
  beginWith(core, object);
  core.set(session, { unapplied: restoredTexts(texts, session.history.present.spec) });
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
    apply: (operation, options) => apply(core, operation, options),
    replaceDraft: (draft) => {
      if (view().mode !== 'read')
        set(
          edited(session(), () => draft, { at: Date.now() }),
          { replaced: view().replaced + 1, shapes: [] },
        );
    },
    renameNode: (id, next) => rename(core, id, next),
    undo: () => stepInHistory(core, 'back'),
    redo: () => stepInHistory(core, 'forward'),
    select: (selection) => show({ selection: { ...NOTHING, ...selection } }),
    openNode: (id, tab) => openNode(core, { node: id }, tab),
    openNewNode: (id) => {
      // A node that was removed may have had the same ID.
      set(session(), {
        unapplied: view().unapplied.filter(({ found }) => found.place.node !== id),
        shapes: view().shapes.filter(({ node }) => node !== id),
      });
      openNode(core, { node: id, isNew: true }, 'parameters');
    },
    showTab: (tab) => show({ tab }),
    openEdge: (edge) =>
      show({ panel: { edge }, picker: undefined, selection: { nodes: [], edges: [edgeId(edge)] } }),
    openSettings: (setting) => openSettings(core, setting),
    toggleCollapsed: (group) => show({ collapsed: view().collapsed.symmetricDifference(new Set([group])) }),
    showItem: (loop, index) => show({ shownItems: { ...view().shownItems, [loop]: index } }),
    askRemoval: (removing) => show({ removing }),
    showN8n: (pastedN8n) => show({ pastedN8n }),
    closePanel: () => show({ panel: undefined, picker: undefined }),
    pick: (picker) => show({ picker, panel: undefined }),
    setMode: (mode) => show({ mode }),
    setDeleted: (isDeleted) => show({ isDeleted }),
    setMayDraft: (mayDraft) => show({ mayDraft }),
    publish: (by) => publish(core, { by }),
    answer: (confirmation) => core.answerConfirmation?.(confirmation),
    discard: () =>
      set(discarded(session(), Date.now()), {
        unreadable: undefined,
        text: undefined,
        unapplied: [],
        shapes: [],
      }),
    saveDraft: () => saveDraft(core),
    isUnstored: () => isUnstored(core),
    updateDraft: (object) => receiveStored(core, object),
    resolveDraft: (choice) => resolveDraft(core, choice),
    removeForeign: () => removeForeign(core),
    update: (workflow) => update(core, workflow),
    setDraftProblems: (found, foundIn) => show({ found, foundIn }),
    setReferenceProblems: (references, referencesIn) => show({ references, referencesIn }),
    setCredentials: (credentials) => show({ credentials }),
    compare: (isComparing) => show({ isComparing }),
    setUnreadable: (invalid) => show({ unreadable: invalid?.why, text: invalid?.text }),
    keepUnapplied: (node, field, typed) => {
      const { spec } = session().history.present;
      const unapplied = withText(view().unapplied, { node, field, spec }, typed);
      if (unapplied !== view().unapplied) show({ unapplied });
    },
    keepShapes: (node, at, shapes) => {
      const { spec } = session().history.present;
      show({ shapes: withShapes(view().shapes, { ...at, node, spec, shapes }) });
    },
    resolve: (draft) => set(resolved(session(), draft), { isComparing: false, shapes: [] }),
  };
}

function apply(core: Core, ...[operation, options = {}]: Parameters<EditorActions['apply']>): void {
  const { session, view, set } = core;
  if (view().mode === 'read') return;
  const { key, isWhole = false } = options;
  const next = edited(session(), operation, { at: Date.now(), ...(key !== undefined && { key }) });
  set(next, isWhole ? { shapes: [] } : {});
}

function rename(core: Core, id: string, next: string): void {
  const { session, view, set } = core;
  if (view().mode === 'read') return;
  const before = session().history.present.spec;
  const renamed = edited(session(), (draft) => renameNode(draft, id, next), { at: Date.now() });
  const { spec } = renamed.history.present;
  set(renamed, {
    unapplied: withRenamed(view().unapplied, [id, next], [before, spec]),
    shapes: withRenamedShapes(view().shapes, [id, next], [before, spec]),
  });
  openNode(core, { node: next });
}

function stepInHistory({ session, view, set }: Core, way: 'back' | 'forward'): void {
  const next = steppedInHistory(session(), way);
  const [{ spec: before }, { spec: now }] = [session().history.present, next.history.present];
  const shapes = shapesAfterStep(view().shapes, way, [before, now]);
  set(next, { ...withOtherId(view(), before, now), shapes });
}

function update(core: Core, read: WorkflowObject): void {
  if (core.view().isPublishing) {
    core.deferredWorkflow = read;
    return;
  }
  if (isOwnUnconfirmed(core, read)) return confirmPublished(core, read);
  const { session, outcome } = receive(core.session(), read);
  core.set(session);
  readForeignAgain(core);
  if (outcome === 'updated')
    notifySuccess(`${whoChanged(read)} changed this workflow. The page shows the new version.`);
  if (outcome === 'rebased')
    notifySuccess(`${whoChanged(read)} changed this workflow. Your changes are kept.`);
}

/** Whether the read version is the one that this page sent without getting an answer. */
function isOwnUnconfirmed({ unconfirmedPublish }: Core, read: WorkflowObject): boolean {
  return unconfirmedPublish !== undefined && isPublished(unconfirmedPublish, draftOf(read));
}

function confirmPublished(core: Core, read: WorkflowObject): void {
  const { unconfirmedPublish: sent } = core;
  delete core.unconfirmedPublish;
  if (sent === undefined) return;
  const { workflow: before } = core.session();
  core.set(afterPublishing(core.session(), read, sent));
  notifyPublished(core, read, before);
  void saveDraft(core);
}

/** How often changes are sent, because others may publish a version meanwhile. */
const MAX_TRIES = 5;

/** `by`: who recreates a deleted workflow. */
type Publishing = { by?: string | undefined; confirmation?: Confirmation; tries?: number };

async function publish(core: Core, publishing: Publishing): Promise<boolean> {
  if (!mayPublish(core)) return false;
  core.set(withoutChainEdges(core.session()), withoutNewMark(core.view()));
  if (publishing.confirmation !== undefined || !needsConfirmation(core)) return send(core, publishing);
  const given = await askConfirmation(core);
  return given !== undefined && publish(core, { confirmation: given });
}

/** The panel of a node that is to be published: what the node lacks is marked from now on. */
function withoutNewMark({ panel }: View): Partial<View> {
  return panel !== undefined && 'isNew' in panel ? { panel: { node: panel.node } } : {};
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

/** Recreating a deleted workflow needs no confirmation: it becomes inactive, so that nothing runs. */
function needsConfirmation({ session, view }: Core): boolean {
  const { saved, history } = session();
  return !view().isDeleted && specChanges(saved, history.present).length > 0;
}

async function send(core: Core, publishing: Publishing): Promise<boolean> {
  const { session, view, set } = core;
  const { workflow: before } = session();
  set(session(), { isPublishing: true });
  const result = await (view().isDeleted
    ? recreate(session(), publishing.by)
    : publishSession(session(), publicationIn(publishing)));
  if (result.kind === 'published') {
    delete core.unconfirmedPublish;
    set(afterPublishing(session(), result.workflow, result.sent), { isPublishing: false, isDeleted: false });
  } else set(session(), { isPublishing: false });
  if (result.kind === 'failed' && isOutcomeUnknown(result.error)) core.unconfirmedPublish = result.sent;
  handlePending(core);
  if (result.kind === 'newer') return publishOnTop(core, result.workflow, publishing);
  if (result.kind === 'failed') return notifyNotPublished(core, result.error);
  if (result.kind === 'nothing' && publishing.confirmation !== undefined)
    notifyNotice('Nothing to publish', 'Somebody else has already published or discarded these changes.');
  if (result.kind === 'published') {
    notifyPublished(core, result.workflow, before);
    void saveDraft(core);
  }
  return !isDirty(session());
}

/**
 * Says that it is published. What events run takes effect after that, which the page follows. Until its
 * finalizers are done, a workflow that is being deleted can still be changed.
 */
function notifyPublished(core: Core, { metadata, spec }: WorkflowObject, before: WorkflowObject): void {
  const takesEffect = isEnabled(spec) && metadata.generation !== before.metadata.generation;
  if (metadata.deletionTimestamp !== undefined)
    notifyNotice(
      'The workflow is being deleted',
      'What was published goes with it. To keep the changes, copy its YAML into a new workflow.',
    );
  else if (takesEffect) core.set(core.session(), { published: metadata.generation });
  else notifySuccess('Published');
}

/** Without an answer the API server may have stored the changes. */
function isOutcomeUnknown(error: unknown): boolean {
  const { status } = failureFrom(error);
  return status === 0 || status >= 500;
}

function publicationIn({ confirmation }: Publishing): Publication | undefined {
  const { by, message = '' } = confirmation ?? {};
  return by === undefined ? undefined : { by, ...(message.trim() !== '' && { message: message.trim() }) };
}

/**
 * Shows the changes, and asks whether to publish them; undefined: the user cancelled. Asks again if the draft
 * changed while the user read it.
 */
function askConfirmation(core: Core): Promise<Confirmation | undefined> {
  const { promise, resolve } = Promise.withResolvers<Confirmation | undefined>();
  let shown = core.session().history.present;
  core.answerConfirmation = (confirmation) => {
    const { present } = core.session().history;
    if (confirmation !== undefined && present !== shown) {
      shown = present;
      core.set(core.session(), { isAskedAgain: true });
      return;
    }
    delete core.answerConfirmation;
    core.set(core.session(), { isAsking: false, isAskedAgain: false });
    resolve(confirmation);
  };
  core.set(core.session(), { isAsking: true });
  return promise;
}

function unreadableFailure(why: string): ApiFailure {
  return new ApiFailure({ status: -1, title: 'The YAML is invalid', detail: why, reason: 'unreadable' });
}

function handlePending(core: Core): void {
  const read = core.deferredWorkflow;
  delete core.deferredWorkflow;
  if (read) update(core, read);
}

/**
 * Someone else published first. Publishes on top of that version, unless it conflicts: the user decides
 * then.
 */
async function publishOnTop(core: Core, newer: WorkflowObject, publishing: Publishing): Promise<boolean> {
  // Somebody may have recreated a deleted workflow.
  core.set(core.session(), { isDeleted: false });
  update(core, newer);
  if (!isDirty(core.session())) return true;
  const { tries = MAX_TRIES } = publishing;
  if (tries > 1) return publish(core, { ...publishing, tries: tries - 1 });
  notifyProblem('Not published', 'Others changed the workflow at the same time. Publish again.');
  return false;
}

/**
 * Tells the user why. Returns whether everything is published, because another version has the same
 * content.
 */
function notifyNotPublished(core: Core, error: unknown): boolean {
  if (!isOutcomeUnknown(error)) notifyRefused(core, error);
  else if (core.unconfirmedPublish !== undefined) notifyUnconfirmed(error);
  return !isDirty(core.session());
}

function notifyUnconfirmed(error: unknown): void {
  const { title, detail } = failureFrom(error);
  notifyProblem(
    'Publishing was not confirmed',
    `${title}. ${detail} The changes may be published. This page shows the result as soon as it can read it.`,
  );
}

function notifyRefused(core: Core, error: unknown): void {
  const { session, set } = core;
  const { causes } = failureFrom(error);
  const { spec } = session().history.present;
  const found = draftProblems(causes, spec);
  if (causes.length > 0) set(session(), { found, foundIn: spec });
  const [first] = found.flatMap(({ place, problem }) =>
    place !== undefined && 'node' in place ? [{ node: place.node, ...problem }] : [],
  );
  if (first === undefined) return notifyRefusedSetting(core, error, found);
  const { node, message } = first;
  notifyProblem(
    'Not published',
    message.startsWith(`node ${node}`) ? message : `${nodeName(node, spec.nodes)}: ${message}`,
    {
      text: 'Go to node',
      onClick: () => openNode(core, { node }, 'parameters'),
    },
  );
}

/** Without a problem of a node. */
function notifyRefusedSetting(core: Core, error: unknown, found: readonly Found[]): void {
  const { field = '', message = '' } =
    found.find(({ place, problem }) => place === undefined && problem.field !== '')?.problem ?? {};
  if (field === '') return notifyFailure('Not published', error);
  const link = { text: 'Go to setting', onClick: () => openSettings(core, field) };
  notifyProblem('Not published', `${settingLabel(field)}: ${message}`, hasSetting(field) ? link : undefined);
}

function openSettings({ session, set }: Core, setting = ''): void {
  set(session(), { panel: { setting }, picker: undefined, selection: NOTHING });
}

type NodePanel = Extract<View['panel'], { node: string }>;

function openNode({ session, view, set }: Core, panel: NodePanel, asked?: PanelTab): void {
  const { panel: before, tab: open } = view();
  const kept = before !== undefined && 'node' in before ? open : 'parameters';
  set(session(), {
    panel,
    tab: asked ?? kept,
    picker: undefined,
    selection: { nodes: [panel.node], edges: [] },
  });
}

function stateOf(session: Session, view: View, before?: EditorState): EditorState {
  const { workflow, saved, history, theirs } = session;
  const {
    found: _found,
    foundIn: _foundIn,
    references: _of,
    referencesIn: _in,
    credentials: _credentials,
    ...shown
  } = view;
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
