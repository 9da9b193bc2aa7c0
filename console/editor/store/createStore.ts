/**
 * Creates the editor's store: the pure session and the view, the state that subscribers read of both, and the
 * actions that change them.
 */
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { withoutAdded } from '../model/fieldShapes.ts';
import { isDirty, opened, type Session } from '../model/session.ts';
import { restoredTexts } from '../model/unapplied.ts';
import { actionsOf } from './actions.ts';
import type { Core, View } from './core.ts';
import { beginWith } from './draftSaving.ts';
import { shownProblems } from './problems.ts';
import { NO_SELECTION, type EditorState, type EditorStore, type Mode } from './store.ts';
import { withoutRemoved } from './withoutRemoved.ts';

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
    selection: NO_SELECTION,
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
