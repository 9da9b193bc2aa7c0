/**
 * Checks a page with axe-core, as it is now: what people who use a keyboard or a screen reader stumble over.
 */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Flaw = { id: string; targets: string[]; why: string };

/** The rules that depend on colours. They take most of the time: axe asks what lies under each text. */
const COLORS = ['color-contrast', 'link-in-text-block'];
/** What is open above a page. */
export const LAYERS = '[role="dialog"], [role="menu"], [role="listbox"]';

/**
 * Every rule of axe, the ones for colours too; each place that breaks one. The page's policies stand: nothing
 * is injected as a script. `within`: a selector of what the rules for colours are limited to, where the rest
 * of the page has been checked.
 */
export async function flawsOf(page: Page, within?: string): Promise<string[]> {
  if (within === undefined) return flawsBy(page, 'document', {});
  const rules = Object.fromEntries(COLORS.map((id) => [id, { enabled: false }]));
  return [...(await flawsBy(page, 'document', { rules })), ...(await colorFlawsOf(page, within))];
}

/** By the rules for colours alone. */
export async function colorFlawsOf(page: Page, within?: string): Promise<string[]> {
  const shown = `[...document.querySelectorAll(${JSON.stringify(within)})].filter((each) => each.checkVisibility())`;
  return flawsBy(page, within === undefined ? 'document' : `{ include: ${shown} }`, { runOnly: COLORS });
}

async function flawsBy(page: Page, context: string, options: object): Promise<string[]> {
  // A page that is loaded again has it no more.
  if (!(await page.evaluate<boolean>(`typeof axe === 'object'`))) await page.evaluate(`${axe.source};0`);
  const flaws = await page.evaluate<Flaw[]>(checkOf(context, JSON.stringify(options)));
  return flaws.map(({ id, targets, why }) => `${id} at ${targets.join(' ')}: ${why}`);
}

/**
 * Runs in the page. What opens from a button is reached from it, and is outside the page's outline. No
 * rule that axe applies reads style sheets, which it would load otherwise.
 */
const checkOf = (context: string, options: string) => `(async () => {
  const common = { resultTypes: ['violations'], elementRef: true, preload: { assets: ['media'] } };
  const { violations } = await axe.run(${context}, { ...common, ...${options} });
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
