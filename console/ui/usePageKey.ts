/** The keyboard shortcuts of pages, which wait while something is open over the page. */
import { useHotkeys } from '@mantine/hooks';

/** Dialogs and drawers, and menus. */
const LAYERS = '[aria-modal="true"], [role="menu"]';

/** Whether a dialog, a drawer or a menu is open. Then a key means that one. */
export function isLayerOpen(): boolean {
  return document.querySelector(LAYERS) !== null;
}

/** Calls `act` at the key, such as `mod+K`, unless a layer is open. `whileTyping`: also in fields. */
export function usePageKey(key: string, act: () => void, { whileTyping = false } = {}): void {
  useHotkeys([[key, () => isLayerOpen() || act()]], whileTyping ? [] : undefined, whileTyping);
}
