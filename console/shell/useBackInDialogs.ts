/** Back in the browser closes an open dialog or drawer as Escape does, and stays on the page. */
import { useBlocker } from '@tanstack/react-router';

/**
 * Call it once, in the frame of all pages. Dialogs add no entries to the history: the router reverts the step
 * back, and the page keeps its address.
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
    // Closes it after the router has restored the address, since a closing dialog may change the address.
    window.addEventListener('popstate', close, { once: true });
    return true;
  },
} as const;
