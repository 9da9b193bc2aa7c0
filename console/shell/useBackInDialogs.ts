/** Back in the browser closes an open dialog or drawer as Escape does, and stays on the page. */
import { useBlocker } from '@tanstack/react-router';

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
    const dialog = document.querySelector('[aria-modal="true"]');
    if (action !== 'BACK' || dialog === null) return false;
    const close = (): void => {
      dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    };
    // Once the page has its address again, which a dialog may change as it closes.
    window.addEventListener('popstate', close, { once: true });
    return true;
  },
} as const;
