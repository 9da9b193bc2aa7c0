/** Follows a node whose ID undo or redo changes. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { otherId } from '../model/otherId.ts';
import type { EditorState } from './store.ts';

type Shown = Pick<EditorState, 'selection' | 'panel'>;

/** Selection and panel of the node that has another ID `now`, if that is what differs in the nodes. */
export function withOtherId(view: Shown, before: WorkflowSpec, now: WorkflowSpec): Shown {
  const { selection, panel } = view;
  const [from, to] = otherId(before, now) ?? [];
  if (from === undefined || to === undefined) return { selection, panel };
  const isShown = panel !== undefined && 'node' in panel && panel.node === from;
  return {
    selection: { ...selection, nodes: selection.nodes.map((id) => (id === from ? to : id)) },
    panel: isShown ? { node: to } : panel,
  };
}
