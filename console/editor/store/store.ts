/**
 * The state of the editor: one store per open workflow. Components read it with `useEditor` (everything) or
 * `useEditorPart` (a selected part, to avoid redraws). Dragging on the canvas changes it only when the drag
 * ends.
 */
import { createContext, use, useSyncExternalStore } from 'react';
import type { ShownItems } from '../model/scopes.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import type { EdgeEnds } from '../model/graph.ts';
import type { Draft, Operation } from '../model/model.ts';
import type { Position } from '../model/place.ts';
import type { Problems, problemsOf } from '../model/problems.ts';

/**
 * `edit`: changes can be saved. `read`: nothing can be changed. `trial`: changes can be made and copied, but
 * not saved, because a tool manages the object.
 */
export type Mode = 'edit' | 'read' | 'trial';

export type Selection = { readonly nodes: readonly string[]; readonly edges: readonly string[] };

/** Where to add a node: after a node, on an edge, in a group, at a position, or as the trigger. */
export type PickerPlace =
  | { kind: 'after'; node: string; position?: Position }
  | { kind: 'between'; edge: EdgeEnds }
  | { kind: 'inside'; group: string }
  | { kind: 'free'; position?: Position }
  | { kind: 'trigger' };

export type EditorState = {
  readonly namespace: string;
  readonly name: string;
  readonly workflow: WorkflowObject;
  readonly draft: Draft;
  readonly saved: Draft;
  readonly mode: Mode;
  readonly isReadOnly: boolean;
  /** The object was deleted: the page has the only copy. */
  readonly isDeleted: boolean;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly selection: Selection;
  readonly panel: { node: string } | { edge: EdgeEnds } | undefined;
  /** The place of the node that the user is choosing. */
  readonly picker: PickerPlace | undefined;
  readonly problems: Problems;
  /** The groups that are drawn as cards, without their bodies. */
  readonly collapsed: ReadonlySet<string>;
  /** The item of each loop whose values are shown. */
  readonly shownItems: ShownItems;
  /** The nodes about which the user is asked whether their bodies are removed too. */
  readonly removing: readonly string[] | undefined;
  /** A version that someone else saved and that conflicts with the draft. */
  readonly theirs: WorkflowObject | undefined;
  readonly isComparing: boolean;
  /** The save waits until the user confirms that the changes go live. */
  readonly isAskingLive: boolean;
  /**
   * Why the text of the YAML tab is invalid. Until it is fixed, the draft is the last valid version and only
   * the text can be changed.
   */
  readonly unreadable: string | undefined;
};

export type EditorActions = {
  /** Changes the draft. Consecutive changes with the same `key` within a second are one undo step. */
  apply: (operation: Operation, options?: { key?: string }) => void;
  undo: () => void;
  redo: () => void;
  select: (selection: Partial<Selection>) => void;
  openNode: (id: string) => void;
  openEdge: (ends: EdgeEnds) => void;
  toggleCollapsed: (group: string) => void;
  showItem: (loop: string, index: number) => void;
  /** Asks whether the bodies of these groups are removed too. */
  askRemoval: (ids: readonly string[] | undefined) => void;
  /** Closes the panel and the picker. */
  closePanel: () => void;
  /** Opens the picker. */
  pick: (place: PickerPlace) => void;
  setMode: (mode: Mode) => void;
  setDeleted: (isDeleted: boolean) => void;
  /**
   * Saves the changes, or recreates a deleted object. Asks first if the changes go live. Resolves to true
   * once everything is saved; failures are reported to the user.
   */
  save: () => Promise<boolean>;
  answerLive: (isConfirmed: boolean) => void;
  /** Discards all changes. */
  discard: () => void;
  /** Handles a new version of the object. */
  update: (workflow: WorkflowObject) => void;
  /** Sets the result of a dry run. */
  setDraftProblems: (found: Parameters<typeof problemsOf>[0]) => void;
  compare: (isOpen: boolean) => void;
  setUnreadable: (why: string | undefined) => void;
  /** Resolves a conflict with this draft, based on their version. */
  resolve: (draft: Draft | 'theirs') => void;
};

export type EditorStore = EditorActions & {
  get: () => EditorState;
  subscribe: (listener: () => void) => () => void;
};

export const EditorContext = createContext<EditorStore | undefined>(undefined);

/** The store of the surrounding editor. */
export function useEditorStore(): EditorStore {
  const store = use(EditorContext);
  if (store === undefined) throw new Error('useEditor is for components inside the editor');
  return store;
}

export function useEditor(): EditorState & EditorActions {
  const store = useEditorStore();
  return { ...useSyncExternalStore(store.subscribe, store.get), ...actionsOf(store) };
}

/** A part of the state. The component redraws only when that part changes. */
export function useEditorPart<T>(select: (state: EditorState) => T): T {
  const store = useEditorStore();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}

function actionsOf({ get: _get, subscribe: _subscribe, ...actions }: EditorStore): EditorActions {
  return actions;
}
