/** What a screen reader says of a control beside its name and its value. */
import type { Locator } from 'playwright-core';

/** The texts that `aria-describedby` names; empty without one. */
export function descriptionOf(control: Locator): Promise<string> {
  return control.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id: string) => element.ownerDocument.getElementById(id)?.textContent ?? '')
      .join(' ')
      .trim(),
  );
}
