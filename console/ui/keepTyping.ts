/** Keeps what somebody types from asking for a dialog until its first field has the focus. */

/** A dialog that has not appeared by then does not appear. */
const LONGEST_MS = 5_000;

let end: (() => void) | undefined;

/**
 * Keeps the typed letters for the next dialog, whose field with `data-autofocus` gets them. Ends without it
 * when the user clicks, or when something else gets the focus. Call it when a dialog is asked for whose code
 * or data may have to be loaded.
 */
export function keepTyping(): void {
  if (end !== undefined) return;
  let typed = '';
  const listening = new AbortController();
  const stop = (): void => {
    end = undefined;
    clearTimeout(timer);
    listening.abort();
  };
  const timer = setTimeout(stop, LONGEST_MS);
  end = stop;
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key !== 'Backspace' && event.key.length !== 1) return;
    // Otherwise they would be keys of the page, such as one that disables a node.
    event.preventDefault();
    event.stopPropagation();
    typed = event.key === 'Backspace' ? typed.slice(0, -1) : typed + event.key;
  };
  const onFocus = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement)) return;
    // The page gives the focus back when another dialog closes.
    if (!isField(target) && target.closest('[role="dialog"]') === null) return;
    stop();
    if (typed !== '' && isText(target) && target.hasAttribute('data-autofocus')) write(target, typed);
  };
  const { signal } = listening;
  document.addEventListener('keydown', onKey, { capture: true, signal });
  document.addEventListener('focusin', onFocus, { signal });
  document.addEventListener('pointerdown', stop, { capture: true, signal });
}

type TextField = HTMLInputElement | HTMLTextAreaElement;

const isText = (target: HTMLElement): target is TextField =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

const isField = (target: HTMLElement): boolean => isText(target) || target.isContentEditable;

/** As if it were typed, so that React is told of it. */
function write(field: TextField, text: string): void {
  field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
}
