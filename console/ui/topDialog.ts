/** Escape closes only the dialog or drawer on top. Mantine would close all that are open. */

/** The open dialog or drawer above all others. */
export function topDialog(): Element | undefined {
  // In one layer, the last dialog is on top.
  return openDialogs()
    .toSorted((one, other) => layerOf(one) - layerOf(other))
    .at(-1);
}

const openDialogs = () => [...document.querySelectorAll('[aria-modal="true"]')];

const layerOf = (dialog: Element) => Number(getComputedStyle(dialog).getPropertyValue('--mb-z-index'));

/**
 * Call this before the first dialog opens: the listeners of a window get Escape in the order in which they
 * were added, and this one must be the first.
 */
export function closeOnlyTopDialog(): void {
  window.addEventListener('keydown', onKey, { capture: true });
}

/** A dialog that must stay open has no close button, so that Escape has no effect. */
function onKey(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.isComposing || openDialogs().length < 2 || closesList(event)) return;
  event.stopImmediatePropagation();
  topDialog()?.querySelector<HTMLElement>('header [aria-label="Close"]')?.click();
}

/** Whether the key closes an open list in the dialog instead of the dialog. */
function closesList({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true';
}
