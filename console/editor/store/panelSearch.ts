/** The panel in the address of the editor: the node whose panel is open, or the settings. Pure. */
import type { EditorState } from './store.ts';

type PanelSearch = { node?: string; settings?: true };

/** The parameters of an address that opens the panel; none for a panel without an address. */
export function panelSearch(panel: EditorState['panel']): PanelSearch {
  if (panel === undefined) return {};
  if ('setting' in panel) return { settings: true };
  return 'node' in panel ? { node: panel.node } : {};
}
