/** The actions of the editor's store. */
import { resolved } from '../model/session.ts';
import type { Core, View } from './core.ts';
import { isUnstored, receiveStored, removeForeign, resolveDraft, saveDraft } from './draftSaving.ts';
import {
  apply,
  discard,
  keepShapes,
  keepUnapplied,
  renameAndOpenNode,
  replaceDraft,
  stepInHistory,
} from './editing.ts';
import { openEdge, openNewNode, openNode, openSettings } from './panel.ts';
import { publish } from './publish.ts';
import { receiveWorkflow } from './receiveWorkflow.ts';
import { NO_SELECTION, type EditorActions } from './store.ts';

/** Everything that the page may do with the store. */
export function actionsOf(core: Core): EditorActions {
  const { session, view, set } = core;
  const show = (change: Partial<View>) => set(session(), change);
  return {
    apply: (operation, options) => apply(core, operation, options),
    replaceDraft: (draft) => replaceDraft(core, draft),
    renameNode: (id, next) => renameAndOpenNode(core, id, next),
    undo: () => stepInHistory(core, 'back'),
    redo: () => stepInHistory(core, 'forward'),
    select: (selection) => show({ selection: { ...NO_SELECTION, ...selection } }),
    openNode: (id, tab) => openNode(core, { node: id }, tab),
    openNewNode: (id) => openNewNode(core, id),
    showTab: (tab) => show({ tab }),
    openEdge: (edge) => openEdge(core, edge),
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
    discard: () => discard(core),
    saveDraft: () => saveDraft(core),
    isUnstored: () => isUnstored(core),
    updateDraft: (object) => receiveStored(core, object),
    resolveDraft: (choice) => resolveDraft(core, choice),
    removeForeign: () => removeForeign(core),
    update: (workflow) => receiveWorkflow(core, workflow),
    setDraftProblems: (found, foundIn) => show({ found, foundIn }),
    setReferenceProblems: (references, referencesIn) => show({ references, referencesIn }),
    setCredentials: (credentials) => show({ credentials }),
    compare: (isComparing) => show({ isComparing }),
    setUnreadable: (invalid) => show({ unreadable: invalid?.why, text: invalid?.text }),
    keepUnapplied: (...given) => keepUnapplied(core, ...given),
    keepShapes: (...given) => keepShapes(core, ...given),
    resolve: (draft) => set(resolved(session(), draft), { isComparing: false, shapes: [] }),
  };
}
