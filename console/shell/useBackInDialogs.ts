/** Back in the browser closes the dialog or drawer on top as Escape does, and stays on the page. */
import { useBlocker } from '@tanstack/react-router';
import { topDialog } from '../ui/topDialog.ts';

/**
 * Call it once, on every page. Dialogs have no entries of their own in the history: the router goes forward
 * again.
 */
export function useBackInDialogs(): void {
  useBlocker(BLOCKER);
}

const BLOCKER = {
  enableBeforeUnload: false,
  shouldBlockFn: ({ action }: { action: string }) => {
    const dialog = topDialog();
    if (action !== 'BACK' || dialog === undefined) return false;
    const close = (): void => {
      dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    };
    // Once the page has its address again, which a dialog may change as it closes.
    window.addEventListener('popstate', close, { once: true });
    return true;
  },
} as const;
