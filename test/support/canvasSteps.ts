/** What a person does on the canvas of the console, with the pointer and with the keys. */
import type { Locator, Page } from 'playwright-core';
import { choose } from './consoleSteps.ts';

/** The line from one node to another. */
export function lineOf(page: Page, from: string, to: string): Locator {
  return page.locator(`.react-flow__edge[data-id="${from}>${to}"]`);
}

/** All lines on the canvas, such as `trigger>agent_1`, in the order of the alphabet. */
export async function linesOn(page: Page): Promise<string[]> {
  const lines = page.locator('.react-flow__edge');
  const ids: string[] = await lines.evaluateAll((each) =>
    each.map((line) => line.getAttribute('data-id') ?? ''),
  );
  return ids.toSorted();
}

/** Adds a node into a line with the + that it shows under the pointer; its panel opens. */
export async function insertBetween(page: Page, from: string, to: string, choice: string): Promise<void> {
  await lineOf(page, from, to).hover({ force: true });
  await page.getByRole('button', { name: `Insert a node between ${from} and ${to}` }).click();
  await choose(page, choice);
}

/** Draws a line with the pointer. */
export async function drawLine(page: Page, from: string, to: string): Promise<void> {
  const end = (id: string, side: string) =>
    page.locator(`.react-flow__node[data-id="${id}"] .react-flow__handle.${side}`).first();
  await end(from, 'source').dragTo(end(to, 'target'));
}

/** Goes on with the Tab key until this has the focus, as somebody without a pointer does. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed < 40; pressed += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('the Tab key does not lead there');
}

/** Waits until the panel has the focus, which goes into it when it opens. */
export async function panelFocused(page: Page): Promise<void> {
  await page.locator('[data-node-panel]:focus').waitFor();
}
