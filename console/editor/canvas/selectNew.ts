/** What is selected, and shown in the panel, after nodes were duplicated or pasted. */
import { fragmentOf, pasted } from '../model/fragment.ts';
import type { EditorStore } from '../store/store.ts';

/**
 * Selects the new nodes. A panel that is open shows the one new node, or closes: what is typed next must not
 * go into the node that was copied.
 */
export function selectNew(
  store: Pick<EditorStore, 'get' | 'openNode' | 'closePanel' | 'select'>,
  ids: readonly string[],
): void {
  const isOpen = store.get().panel !== undefined;
  const [only, ...others] = ids;
  if (isOpen && only !== undefined && others.length === 0) return store.openNode(only);
  if (isOpen) store.closePanel();
  store.select({ nodes: [...ids] });
}

/** Duplicates the selection below it and selects the copies; returns their IDs. */
export function duplicateSelected(store: EditorStore): string[] {
  const { draft, selection } = store.get();
  const { draft: next, ids } = pasted(draft, fragmentOf(draft, selection.nodes));
  store.apply(() => next);
  selectNew(store, ids);
  return ids;
}
