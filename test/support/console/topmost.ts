/**
 * Whether the controls of the menu, popover or dialog that opened last can be clicked: whether each is the
 * topmost element.
 */
import type { Page } from 'playwright-core';

/**
 * Each control of the layer that is not the topmost element at its centre or, but for fields, near its left
 * or right end: by its name, with the element that is. A control is scrolled into view first. Throws where no
 * menu, list, popover or dialog is open.
 */
export async function coveredControls(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(COVERED);
}

/**
 * Runs in the page. A list or menu is above the dialog that it opened from; of several dialogs the last one
 * is on top.
 */
const COVERED = `(() => {
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const layers = (selector) => [...document.querySelectorAll(selector)].filter(isShown);
  const layer = layers('[role="menu"], [role="listbox"]').at(-1) ?? layers('[role="dialog"]').at(-1);
  if (layer === undefined) throw new Error('no menu, list, popover or dialog is open');
  const CONTROLS =
    '[role="menuitem"], [role="option"], [role="tab"], [contenteditable="true"], button, a[href], input, textarea';
  const labelOf = (element) =>
    element.getAttribute('aria-label') ?? (element.textContent.trim().slice(0, 40) || element.outerHTML.slice(0, 80));
  const isAt = (control, hit) =>
    control.contains(hit) || hit?.closest('label')?.control === control;
  return [...layer.querySelectorAll(CONTROLS)]
    .filter((control) => isShown(control) && !control.matches(':disabled, [data-disabled]'))
    .flatMap((control) => {
      control.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      const { left, top, width, height } = control.getBoundingClientRect();
      // A field has signs of its own at its ends.
      const parts = control.matches('input, textarea') ? [0.5] : [0.1, 0.5, 0.9];
      const hits = parts.map((part) => document.elementFromPoint(left + width * part, top + height / 2));
      const above = hits.find((hit) => !isAt(control, hit));
      if (above === undefined) return [];
      return [labelOf(control) + ' is below ' + (above === null ? 'the edge of the screen' : labelOf(above))];
    });
})()`;
