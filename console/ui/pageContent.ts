/**
 * The content of the page: what is beside its header and navigation. It takes the focus where the element
 * that had it is gone, so that Tab begins in the content and not above it.
 */

/** The ID of the element. */
export const CONTENT_ID = 'main';

/** Whether no element of the page has the focus, or gets the key, but the page or its content as a whole. */
export function isWholePage(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof HTMLElement && target.id === CONTENT_ID);
}

/** Gives the focus to the content if no element has it. */
export function focusContentIfLost(): void {
  if (document.activeElement === document.body)
    document.getElementById(CONTENT_ID)?.focus({ preventScroll: true });
}
