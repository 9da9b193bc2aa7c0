/** Of dialogs and drawers over each other, Escape closes the one on top. Mantine would close all of them. */

/** The open dialog or drawer above all others. */
export function topDialog(): Element | undefined {
  // Of those in one layer, the last one is on top.
  return openDialogs()
    .toSorted((one, other) => layerOf(one) - layerOf(other))
    .at(-1);
}

const openDialogs = () => [...document.querySelectorAll('[aria-modal="true"]')];

const layerOf = (dialog: Element) => Number(getComputedStyle(dialog).getPropertyValue('--mb-z-index'));

/** Call it before the first dialog is there: Escape comes to the listeners of a window in their order. */
export function closeOnlyTopDialog(): void {
  window.addEventListener('keydown', onKey, { capture: true });
}

/** One that must stay has no button that closes it. */
function onKey(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.isComposing || openDialogs().length < 2 || isOfList(event)) return;
  event.stopImmediatePropagation();
  topDialog()?.querySelector<HTMLElement>('header [aria-label="Close"]')?.click();
}

/** Whether the key closes an open list in a dialog. */
function isOfList({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true';
}
