/** Gives the focus back to what had it, when a dialog goes that is only there while it is open. */
import { useEffect, useState } from 'react';

/** To be called by the dialog. */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // After the dialog has let go of it.
      queueMicrotask(() => {
        if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      });
    },
    [before],
  );
}
