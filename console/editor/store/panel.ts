/** Opens the panel beside the canvas, and selects its subject. */
import { edgeId } from '../model/graph.ts';
import type { Core, View } from './core.ts';
import { NO_SELECTION, type EditorActions, type PanelTab } from './store.ts';

/** Opens the settings of the workflow, at one of them if it is named. */
export function openSettings({ session, set }: Core, setting = ''): void {
  set(session(), { panel: { setting }, picker: undefined, selection: NO_SELECTION });
}

type NodePanel = Extract<View['panel'], { node: string }>;

/** Opens the panel of a node. Without `asked` the open tab stays. */
export function openNode({ session, view, set }: Core, panel: NodePanel, asked?: PanelTab): void {
  const { panel: before, tab: open } = view();
  const kept = before !== undefined && 'node' in before ? open : 'parameters';
  set(session(), {
    panel,
    tab: asked ?? kept,
    picker: undefined,
    selection: { nodes: [panel.node], edges: [] },
  });
}

/** Opens the panel of a node that was just added. */
export function openNewNode(core: Core, node: string): void {
  const { session, view, set } = core;
  // A node that was removed may have had the same ID.
  set(session(), {
    unapplied: view().unapplied.filter(({ found }) => found.place.node !== node),
    shapes: view().shapes.filter((kept) => kept.node !== node),
  });
  openNode(core, { node, isNew: true }, 'parameters');
}

/** Opens the panel of a connection. */
export function openEdge({ session, set }: Core, ...[edge]: Parameters<EditorActions['openEdge']>): void {
  set(session(), { panel: { edge }, picker: undefined, selection: { nodes: [], edges: [edgeId(edge)] } });
}
