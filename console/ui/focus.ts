/** Which part of a page has the focus. Pure. */

/** Whether a dialog has the focus, which content that loads behind it must not take. */
export function isInDialog(focused: Pick<Element, 'closest'> | null): boolean {
  return focused !== null && focused.closest('[aria-modal="true"]') !== null;
}
