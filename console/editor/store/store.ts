/**
 * The state of the editor: one store per open workflow. Components read it with `useEditor` (everything) or
 * `useEditorPart` (a selected part, to avoid redraws). Dragging on the canvas changes it only when the drag
 * ends.
 */
import { createContext, use, useMemo, useSyncExternalStore } from 'react';
import { trackedReads } from './trackedReads.ts';
import type { ShownItems } from '../model/scopes.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import type { EdgeEnds } from '../model/graph.ts';
import type { FieldShapes } from '../model/fieldShapes.ts';
import type { Draft, Operation } from '../model/model.ts';
import type { Position } from '../model/place.ts';
import type { Found, Problems } from '../model/problems.ts';
import type { Unapplied } from '../model/unapplied.ts';
import type { UnappliedText } from '../../forms/scope.ts';
import type { Shapes, ShapesAt } from '../../forms/shapes.ts';
import type { DraftResult, DraftState } from './draftState.ts';

/**
 * `edit`: changes can be published, by those who may. `read`: nothing can be changed. `trial`: changes can be
 * made and copied, but not published, because a GitOps tool manages the object.
 */
export type Mode = 'edit' | 'read' | 'trial';

export type Selection = { readonly nodes: readonly string[]; readonly edges: readonly string[] };
export const NO_SELECTION: Selection = { nodes: [], edges: [] };

/** The tabs of a node's panel. `input` of a trigger is its test data. `sent`: if a run shows it. */
export type PanelTab = 'parameters' | 'options' | 'input' | 'sent' | 'output' | 'connections';

/** Where to add a node: after a node, on an edge, in a group, at a position, or as the trigger. */
export type PickerPlace =
  | { kind: 'after'; node: string; position?: Position }
  | { kind: 'between'; edge: EdgeEnds }
  | { kind: 'inside'; group: string }
  | { kind: 'trigger' };

export type EditorState = {
  readonly namespace: string;
  readonly name: string;
  readonly workflow: WorkflowObject;
  readonly draft: Draft;
  /** The published version. */
  readonly saved: Draft;
  readonly draftState: DraftState;
  /** Whether the user may store drafts. */
  readonly mayDraft: boolean;
  readonly mode: Mode;
  readonly isReadOnly: boolean;
  /** The Workflow was deleted, so that this page has the only copy. */
  readonly isDeleted: boolean;
  readonly isDirty: boolean;
  readonly isPublishing: boolean;
  /** The generation that this page published last while events start runs; the page shows its progress. */
  readonly published: number | undefined;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly selection: Selection;
  /**
   * `isNew`: the node was just added, so its first empty field gets the focus. `setting`: the setting of the
   * workflow that gets the focus, such as `history.ttl`; empty: none.
   */
  readonly panel: { node: string; isNew?: true } | { edge: EdgeEnds } | { setting: string } | undefined;
  /** The open tab of a node's panel. */
  readonly tab: PanelTab;
  /** The place of the node that the user is choosing. */
  readonly picker: PickerPlace | undefined;
  readonly problems: Problems;
  /** The groups that are drawn as cards, without their bodies. */
  readonly collapsed: ReadonlySet<string>;
  /** The item of each loop whose values are shown. */
  readonly shownItems: ShownItems;
  /** The nodes to remove, while a dialog asks whether to remove the bodies of groups among them too. */
  readonly removing: readonly string[] | undefined;
  /** How many nodes of n8n were pasted, while a dialog says how to import them. */
  readonly pastedN8n: number | undefined;
  /** A version that somebody else published and that conflicts with the draft. */
  readonly theirs: WorkflowObject | undefined;
  readonly isComparing: boolean;
  /** The publish dialog shows the changes, and waits for an answer. */
  readonly isAsking: boolean;
  /** The draft changed while the publish dialog was open: the next answer counts. */
  readonly isAskedAgain: boolean;
  /**
   * Why the text of the YAML tab is invalid. Until it is fixed, the draft is the last valid version and only
   * the text can be changed.
   */
  readonly unreadable: string | undefined;
  /** The text that is invalid. */
  readonly text: string | undefined;
  /** How often another draft has replaced this one (`replaceDraft`). */
  readonly replaced: number;
  /** Unapplied texts, such as invalid JSON in a field. */
  readonly unapplied: readonly Unapplied[];
  /** The values that fields had in each of their shapes. */
  readonly shapes: readonly FieldShapes[];
};

/** Who publishes, and the message of the version. `by` is undefined if the user is unknown. */
export type Confirmation = { by: string | undefined; message: string };

export type EditorActions = {
  /**
   * Changes the draft. Consecutive changes with the same `key` within a second are one undo step.
   * `isWhole`: the change may affect any field, such as one of the YAML, so that the shapes of values
   * are dropped.
   */
  apply: (operation: Operation, options?: { key?: string; isWhole?: true }) => void;
  /** Changes the draft to another one, which the canvas then shows whole. */
  replaceDraft: (draft: Draft) => void;
  /** Changes the ID of a node with all references to it, and opens its panel. */
  renameNode: (id: string, next: string) => void;
  undo: () => void;
  redo: () => void;
  select: (selection: Partial<Selection>) => void;
  /** Opens the panel of a node at this tab. Without one, an open panel keeps its tab. */
  openNode: (id: string, tab?: PanelTab) => void;
  /** Opens the panel of a node that was just added. */
  openNewNode: (id: string) => void;
  showTab: (tab: PanelTab) => void;
  openEdge: (ends: EdgeEnds) => void;
  /** Opens the settings of the workflow, at this one. */
  openSettings: (setting?: string) => void;
  toggleCollapsed: (group: string) => void;
  showItem: (loop: string, index: number) => void;
  /** Opens or closes the dialog that asks whether to remove the bodies of these groups too. */
  askRemoval: (ids: readonly string[] | undefined) => void;
  /** Opens or closes the dialog about these many nodes of n8n. */
  showN8n: (nodes: number | undefined) => void;
  /** Closes the panel and the picker. */
  closePanel: () => void;
  /** Opens the picker. */
  pick: (place: PickerPlace) => void;
  setMode: (mode: Mode) => void;
  setDeleted: (isDeleted: boolean) => void;
  /** Rights become known, or change, while the editor is open. */
  setMayDraft: (mayDraft: boolean) => void;
  /**
   * Publishes the changes, or recreates a deleted Workflow in the name of `by`. Shows changes of the spec
   * first, and asks for a confirmation. Resolves to whether everything is published; the user is notified of
   * failures.
   */
  publish: (by?: string) => Promise<boolean>;
  /** Answers the publish dialog; undefined: cancel. */
  answer: (confirmation: Confirmation | undefined) => void;
  /** Discards all changes. */
  discard: () => void;
  /** Stores the draft now. */
  saveDraft: () => Promise<DraftResult>;
  /** Whether the draft has changes that are not stored. */
  isUnstored: () => boolean;
  /** Handles a new version of the stored draft; null: it was removed. */
  updateDraft: (object: DraftObject | null) => void;
  /** Resolves a conflict with the stored draft. */
  resolveDraft: (choice: 'mine' | 'theirs') => void;
  /** Removes a stored draft that belongs to a deleted workflow, or that cannot be displayed. */
  removeForeign: () => Promise<void>;
  /** Handles a new version of the Workflow. */
  update: (workflow: WorkflowObject) => void;
  /** Sets the problems that a dry run of this spec found. */
  setDraftProblems: (found: readonly Found[], spec: WorkflowSpec) => void;
  /** Sets the references of this spec that cannot be resolved, and what is missing. */
  setReferenceProblems: (found: readonly Found[], spec: WorkflowSpec) => void;
  /** Sets the names of all credentials of the project; undefined: they are not known. */
  setCredentials: (names: ReadonlySet<string> | undefined) => void;
  /** Opens or closes the comparison with a conflicting version. */
  compare: (isOpen: boolean) => void;
  /** Sets or clears the text that is invalid. */
  setUnreadable: (invalid: { why: string; text: string } | undefined) => void;
  /** Keeps the unapplied text of a field of a node; undefined: there is none any more. */
  keepUnapplied: (node: string, field: string, typed: UnappliedText | undefined) => void;
  /** Keeps the values that a field of a node had in each of its shapes. */
  keepShapes: (node: string, at: ShapesAt, shapes: Shapes) => void;
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

/**
 * The state and the actions. The component redraws after a change of a part that it has read. Handlers that
 * read the state later get the current state.
 */
export function useEditor(): EditorState & EditorActions {
  const store = useEditorStore();
  const { state, snapshot } = useMemo(() => trackedReads(store.get, actionsOf(store)), [store]);
  useSyncExternalStore(store.subscribe, snapshot);
  return state;
}

/** A part of the state. The component redraws only when that part changes. */
export function useEditorPart<T>(select: (state: EditorState) => T): T {
  const store = useEditorStore();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}

function actionsOf({ get: _get, subscribe: _subscribe, ...actions }: EditorStore): EditorActions {
  return actions;
}
