/** What somebody does who uses the keyboard only. */
import type { Page } from 'playwright-core';

/** What has the focus, by its name. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(
    `(({ activeElement: at }) => at?.getAttribute('aria-label') ?? at?.dataset?.card ?? at?.textContent ?? '')(document)`,
  );

export async function tabTo(page: Page, name: RegExp): Promise<string> {
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (name.test(at)) return at;
  }
  return 'not reached';
}
