/** Keeps the place of keyboard users where a change removes or replaces the element that has the focus. */
import { flushSync } from 'react-dom';

/**
 * Applies a change and renders it. If the focus is outside of `box` then, it goes to the first element of
 * `box` that matches the first selector; if none does, the next selectors are tried.
 */
export function keepFocus(box: Element | null, change: () => void, ...selectors: string[]): void {
  flushSync(change);
  if (box === null || box.contains(document.activeElement)) return;
  const found = selectors.map((selector) => box.querySelector<HTMLElement>(selector));
  found.find((element) => element !== null)?.focus();
}
