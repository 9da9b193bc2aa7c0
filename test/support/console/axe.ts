/**
 * Checks a page with axe-core, as it is now: what people who use a keyboard or a screen reader stumble over.
 */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Flaw = { id: string; targets: string[]; why: string };

/**
 * Every rule of axe, the one for colours too; each place that breaks one. The page's policies stand: nothing
 * is injected as a script.
 */
export async function flawsOf(page: Page): Promise<string[]> {
  return told(await page.evaluate<Flaw[]>(`${axe.source};${checkBy('{}')}`));
}

/** As `flawsOf`, which was called on this page before, by the rules for colours alone. */
export async function colorFlawsOf(page: Page): Promise<string[]> {
  return told(await page.evaluate<Flaw[]>(checkBy("{ runOnly: ['color-contrast', 'link-in-text-block'] }")));
}

function told(flaws: Flaw[]): string[] {
  return flaws.map(({ id, targets, why }) => `${id} at ${targets.join(' ')}: ${why}`);
}

/** Runs in the page. What opens from a button is reached from it, and is no part of the page's outline. */
const checkBy = (rules: string) => `(async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'], elementRef: true, ...${rules} });
  const OPENED = '[role="menu"], [role="listbox"], [role="tooltip"]';
  const isOpened = (at) => {
    if (at.closest(OPENED)) return true;
    // What holds such things, and nothing else.
    return at.matches('[data-portal]') && [...at.children].every((child) => child.innerText === '' || child.matches(OPENED));
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes
      .filter(({ element }) => id !== 'region' || !isOpened(element))
      .map(({ target, failureSummary }) => ({
        id,
        targets: target.map(String),
        why: String(failureSummary).replaceAll(/\\s+/g, ' '),
      })),
  );
})()`;
