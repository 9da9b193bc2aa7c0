/** Follows a node whose ID undo or redo changes. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
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

/** The ID of the one node that has another one now, and that one. Nodes keep their places. */
function otherId(before: WorkflowSpec, now: WorkflowSpec): [string, string] | undefined {
  const [was, is] = [before, now].map(({ nodes }) => nodes.map(({ id }) => id));
  if (was === undefined || is === undefined || was.length !== is.length) return undefined;
  const [at, ...others] = was.flatMap((id, index) => (is[index] === id ? [] : [index]));
  const [from, to] = at === undefined ? [] : [was[at], is[at]];
  if (others.length > 0 || from === undefined || to === undefined) return undefined;
  return [from, to];
}
