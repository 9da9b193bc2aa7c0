/** Returns the focus to the previous element when a conditionally rendered dialog closes. */
import { useEffect, useState } from 'react';

/** Call it in the dialog. */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // After the dialog has released the focus.
      queueMicrotask(() => {
        if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      });
    },
    [before],
  );
}
