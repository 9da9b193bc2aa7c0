/** Keeps the place of keyboard users when the button that they pressed goes away with what it was about. */
import { useLayoutEffect, type RefObject } from 'react';
import { focusContentIfLost } from './pageContent.ts';

/**
 * Gives the focus to the content of the page if the part of the page had it when it was removed. Otherwise
 * the focus stays where it is.
 */
export function useFocusWhenGone(part: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = part.current;
    return () => {
      if (element?.contains(document.activeElement) !== true) return;
      // What came instead, such as a dialog, may take it first.
      queueMicrotask(focusContentIfLost);
    };
  }, [part]);
}
