/**
 * The editor's state: one store for each workflow that is open. Components read it by `useEditor` (all of it) or `useEditorPart` (what
 * a selector picks, so that nothing else draws them anew). Dragging on the canvas never touches it until the drag ends.
 */
import { createContext, use, useSyncExternalStore } from 'react';
import type { WorkflowObject } from '../../kube/resources.ts';
import type { EdgeEnds } from '../model/graph.ts';
import type { Draft, Operation } from '../model/model.ts';
import type { Position } from '../model/place.ts';
import type { Problems, problemsOf } from '../model/problems.ts';

/**
 * `edit`: changes can be saved. `read`: nothing can be changed. `trial`: changes can be made and copied, but not saved, because
 * something else manages the object.
 */
export type Mode = 'edit' | 'read' | 'trial';

export type Selection = { readonly nodes: readonly string[]; readonly edges: readonly string[] };

/** Where a new node goes: behind a node, between two, anywhere, or to the beginning. */
export type PickerPlace =
  | { kind: 'after'; node: string; position?: Position }
  | { kind: 'between'; edge: EdgeEnds }
  | { kind: 'free'; position?: Position }
  | { kind: 'trigger' };

export type EditorState = {
  readonly namespace: string;
  readonly name: string;
  /** The object as it was last read. */
  readonly workflow: WorkflowObject;
  readonly draft: Draft;
  /** The draft of what is saved. */
  readonly saved: Draft;
  readonly mode: Mode;
  /** Whether the canvas and the forms can change nothing. */
  readonly isReadOnly: boolean;
  /** Somebody has deleted the object: what is shown is all that there is of it. */
  readonly isGone: boolean;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly selection: Selection;
  /** The node or edge whose panel is open. */
  readonly panel: { node: string } | { edge: EdgeEnds } | undefined;
  /** Where the node goes that is being chosen. */
  readonly picker: PickerPlace | undefined;
  readonly problems: Problems;
  /** What somebody else saved, where it does not go together with the draft. */
  readonly theirs: WorkflowObject | undefined;
  readonly isComparing: boolean;
  /** Saving waits until somebody confirms that the changes go live. */
  readonly isAskingLive: boolean;
  /** Why the text of the YAML tab cannot be read: the draft is what it said before, and only the text can be changed. */
  readonly unreadable: string | undefined;
};

export type EditorActions = {
  /** Changes the draft. Changes with the same `key` that follow one another within a second are one step for undo. */
  apply: (operation: Operation, options?: { key?: string }) => void;
  undo: () => void;
  redo: () => void;
  select: (selection: Partial<Selection>) => void;
  openNode: (id: string) => void;
  openEdge: (ends: EdgeEnds) => void;
  /** Closes the panel of a node or edge, and the choice of a node. */
  closePanel: () => void;
  /** Lets people choose a node. */
  pick: (place: PickerPlace) => void;
  setMode: (mode: Mode) => void;
  setGone: (isGone: boolean) => void;
  /**
   * Saves what was changed; what is gone is created again. Asks first where the changes go live. True when everything is saved; a
   * failure has been told.
   */
  save: () => Promise<boolean>;
  /** Answers whether the changes may go live. */
  answerLive: (isConfirmed: boolean) => void;
  /** Gives up all changes. */
  discard: () => void;
  /** Takes what was read anew. */
  see: (workflow: WorkflowObject) => void;
  /** Takes what a dry run found. */
  setDraftProblems: (found: Parameters<typeof problemsOf>[0]) => void;
  compare: (isOpen: boolean) => void;
  setUnreadable: (why: string | undefined) => void;
  /** Ends a conflict with this draft, on top of what the other one saved. */
  resolve: (draft: Draft | 'theirs') => void;
};

export type EditorStore = EditorActions & {
  get: () => EditorState;
  subscribe: (listener: () => void) => () => void;
};

export const EditorContext = createContext<EditorStore | undefined>(undefined);

/** The store of the editor that this component is in. */
export function useEditorStore(): EditorStore {
  const store = use(EditorContext);
  if (store === undefined) throw new Error('useEditor is for components inside the editor');
  return store;
}

/** The state and the actions of the editor. */
export function useEditor(): EditorState & EditorActions {
  const store = useEditorStore();
  return { ...useSyncExternalStore(store.subscribe, store.get), ...actionsOf(store) };
}

/** A part of the state; the component is drawn anew when that part is another one. */
export function useEditorPart<T>(select: (state: EditorState) => T): T {
  const store = useEditorStore();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}

function actionsOf({ get: _get, subscribe: _subscribe, ...actions }: EditorStore): EditorActions {
  return actions;
}
