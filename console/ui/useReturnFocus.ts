/**
 * Returns the focus to the previous element when a conditionally rendered dialog closes, unless a field that
 * the dialog led to has it by then.
 */
import { useEffect, useState } from 'react';
import { isTyping } from './isTyping.ts';

/** Call it in the dialog, or beside one that is loaded when a menu opens it. */
export function useReturnFocus(): void {
  const [before] = useState(openerOf);
  useEffect(
    () => () => {
      // After the dialog has released the focus.
      queueMicrotask(() => {
        if (isTyping(document.activeElement)) return;
        if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      });
    },
    [before],
  );
}

/** What has the focus. In place of an item of a menu, which closes, the button that opened the menu. */
function openerOf(): Element | null {
  const menu = document.activeElement?.closest('[role="menu"]');
  const button = menu?.getAttribute('aria-labelledby');
  return button ? document.getElementById(button) : document.activeElement;
}
